import assert from 'node:assert/strict'
import { it } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import { zipFiles } from './zip-files.ts'

const UTF8 = 0x800

/** An archive with a stored file, a deflated one and a folder. */
function archive(): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, bytes, method] of [
    ['a.txt', Buffer.from('stored'), 0],
    ['b/ü.txt', Buffer.alloc(5000, 'x'), 8],
    ['c/', Buffer.alloc(0), 0],
  ] as const) {
    const packed = method === 0 ? bytes : deflateRawSync(bytes)
    const head = Buffer.alloc(30)
    head.write('PK\x03\x04', 'latin1')
    head.writeUInt16LE(UTF8, 6)
    head.writeUInt16LE(Buffer.byteLength(name), 26)
    const record = Buffer.alloc(46)
    record.write('PK\x01\x02', 'latin1')
    record.writeUInt16LE(UTF8, 8)
    record.writeUInt16LE(method, 10)
    record.writeUInt32LE(crc32(bytes), 16)
    record.writeUInt32LE(packed.length, 20)
    record.writeUInt32LE(bytes.length, 24)
    record.writeUInt16LE(Buffer.byteLength(name), 28)
    record.writeUInt32LE(offset, 42)
    locals.push(head, Buffer.from(name), packed)
    directory.push(record, Buffer.from(name))
    offset += 30 + Buffer.byteLength(name) + packed.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(3, 8)
  end.writeUInt16LE(3, 10)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, ...directory, end])
}

it('reads stored and deflated files of an archive, if they are what they should be', async () => {
  const files = await zipFiles(archive())
  assert.deepEqual([...files.keys()], ['a.txt', 'b/ü.txt'])
  const read = async (name: string, size: number) => (await files.get(name)?.(size))?.toString()
  assert.equal(await read('a.txt', 6), 'stored')
  assert.equal(await read('b/ü.txt', 5000), 'x'.repeat(5000))
  for (const size of [0, 5, 7]) await assert.rejects(read('a.txt', size))
  // No more is inflated than the file has.
  for (const size of [0, 1, 4999, 5001]) await assert.rejects(read('b/ü.txt', size))
})

it('rejects archives that are cut, and bytes that were changed', async () => {
  const whole = archive()
  for (let length = 0; length < whole.length; length += 1) {
    await assert.rejects(zipFiles(whole.subarray(0, length)), String(length))
  }
  const sizes = new Map([
    ['a.txt', 6],
    ['b/ü.txt', 5000],
  ])
  const expected = await zipFiles(whole)
  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ 0xff
    try {
      for (const [name, read] of await zipFiles(changed)) {
        const size = sizes.get(name)
        if (size !== undefined) assert.deepEqual(await read(size), await expected.get(name)?.(size))
      }
    } catch (error) {
      assert.ok(!(error instanceof assert.AssertionError), String(at))
    }
  }
})
