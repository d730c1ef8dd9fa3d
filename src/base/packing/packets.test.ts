import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { inflateSync } from 'node:zlib'
import type { FsId } from '../objects/ids.ts'
import { packetHead, zlibStored } from './packets.ts'

describe('packets', () => {
  it('begin with the id and the length', () => {
    const head = packetHead('0123456789abcdef0123456789abcdef01234567' as FsId, 0x01020304)
    assert.equal(head.toString('latin1', 0, 40), '0123456789abcdef0123456789abcdef01234567')
    assert.deepEqual([...head.subarray(40)], [1, 2, 3, 4])
  })

  it('contain small objects as zlib without compression', () => {
    for (const size of [0, 1, 100, 1023, 5551, 5552, 5553, 65_535]) {
      for (const bytes of [Buffer.alloc(size, 0xff), randomBytes(size)]) {
        assert.deepEqual(inflateSync(zlibStored(bytes)), bytes, `${size} bytes`)
      }
    }
    assert.throws(() => zlibStored(Buffer.alloc(65_536)), /too large/)
  })
})
