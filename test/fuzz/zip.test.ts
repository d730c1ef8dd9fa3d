import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DomainError } from '../../src/base/errors.ts'
import { parseName } from '../../src/base/paths/index.ts'
import type { StoredBytes } from '../../src/libraries/content/index.ts'
import { ZipArchive } from '../../src/libraries/unzip/index.ts'
import { type BuiltEntry, buildZip } from '../support/zip-builder.ts'
import { type Chance, fuzz, outcome } from './fuzz.ts'

/** Bytes as a library stores them. */
function stored(bytes: Buffer): StoredBytes {
  return {
    size: bytes.length,
    read: async function* ({ start, end }) {
      yield bytes.subarray(start, end)
    },
    readAtOnce: () => undefined,
  }
}

/** All entries with their bytes. An entry that cannot be read is listed with the reason. */
async function unpack(bytes: Buffer): Promise<[name: string, content: string][]> {
  using archive = await ZipArchive.open(stored(bytes))
  const found: [string, string][] = []
  for await (const entry of archive.entries()) {
    for (const segment of entry.segments ?? []) assert.equal(parseName(segment), segment)
    if (entry.segments === undefined) assert.equal(entry.refusal, 'name')
    const read = async () => {
      const chunks = await Array.fromAsync(archive.read(entry))
      const content = Buffer.concat(chunks)
      assert.ok(content.length <= entry.size, `${content.length} bytes of ${entry.size}`)
      return content.toString('latin1')
    }
    const result =
      entry.refusal === undefined ? await outcome(read, [DomainError]) : { refused: entry.refusal }
    found.push([entry.name, 'value' in result ? result.value : `(${result.refused})`])
  }
  return found
}

describe('a random zip archive', () => {
  const names = ['a', 'b.txt', 'c/d', 'ü', '../e', '/f', 'C:\\g', 'h\0', `${'i/'.repeat(120)}j`, '.', '']
  const tokens = [
    'PK\x01\x02',
    'PK\x03\x04',
    'PK\x05\x06',
    'PK\x06\x06',
    'PK\x06\x07',
    '\xff\xff\xff\xff',
    '\0\0\0\0',
    '../',
  ]
  const make = (chance: Chance): BuiltEntry[] =>
    chance.many(5, () => ({
      name: chance.one(names),
      content: chance.bytes(chance.one([0, 5, 300])),
      method: chance.one([0, 8]),
      flags: 0x800,
    }))

  it('is unpacked to the original, or rejected without another error', async (t) => {
    await fuzz(t, async (chance) => {
      const entries = make(chance)
      const zip = buildZip(entries)
      const found = await unpack(zip)
      assert.deepEqual(
        found.map(([name]) => name),
        entries.map(({ name }) => name),
      )
      for (const [index, [, content]] of found.entries()) {
        const original = Buffer.from(entries[index]?.content ?? '').toString('latin1')
        assert.ok(content === original || content === '(name)', content)
      }
      await outcome(() => unpack(chance.mutate(zip, tokens)), [DomainError])
    })
  })
})
