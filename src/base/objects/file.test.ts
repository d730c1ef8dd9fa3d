import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { blockIds, check } from '../../../test/support/dirents.arbitrary.ts'
import { encodeFile, fileId, parseFile } from './file.ts'
import { EMPTY_ID, sha1Hex } from './ids.ts'
import { InvalidObject } from './json-fields.ts'

describe('a file object', () => {
  it('has the empty id when there are no bytes', () => {
    assert.equal(fileId({ blockIds: [], size: 0 }), EMPTY_ID)
  })

  it('round-trips', (t) => {
    const files = fc.record({ blockIds: fc.array(blockIds, { minLength: 1 }), size: fc.integer({ min: 1 }) })
    const property = fc.property(files, (file) => {
      assert.deepEqual(parseFile(encodeFile(file)), { ...file })
      assert.equal(fileId(file), sha1Hex(encodeFile(file)))
    })
    check(t, property)
  })

  const good = { block_ids: ['0'.repeat(40)], size: 1, type: 1, version: 1 }
  const bad = [
    { ...good, type: 3 },
    { ...good, version: 0 },
    { ...good, block_ids: 'none' },
    { ...good, block_ids: ['xyz'] },
    { ...good, block_ids: [null] },
    { ...good, size: -1 },
    { ...good, size: 0.5 },
    { block_ids: [], type: 1, version: 1 },
    [],
  ]
  for (const value of bad) {
    it(`is rejected as ${JSON.stringify(value)}`, () => {
      assert.throws(() => parseFile(Buffer.from(JSON.stringify(value))), InvalidObject)
    })
  }
})
