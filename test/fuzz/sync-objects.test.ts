import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { sample } from 'fast-check'
import { type Commit, encodeCommit, parseCommit } from '../../src/base/objects/commit.ts'
import { Dir, parseDir } from '../../src/base/objects/dir.ts'
import { encodeFile, parseFile } from '../../src/base/objects/file.ts'
import { type CommitId, type DirId, type FsId, type LibraryId, sha1Hex } from '../../src/base/objects/ids.ts'
import { InvalidObject } from '../../src/base/objects/json-fields.ts'
import { packetHead } from '../../src/base/packing/packets.ts'
import { readSent } from '../../src/libraries/push/object-parser.ts'
import { BodyMemory } from '../../src/platform/http/body-memory.ts'
import { Refusal } from '../../src/platform/responses/refusal.ts'
import { PacketReader } from '../../src/surfaces/sync/packet-reader.ts'
import { blockIds, dirents } from '../support/dirents.arbitrary.ts'
import { type Chance, fuzz, outcome } from './fuzz.ts'

const hex = (chance: Chance) =>
  Buffer.from(Array.from({ length: 20 }, () => chance.below(256))).toString('hex')

/** The bytes of a dir, and of a file. */
function objects(chance: Chance): Buffer[] {
  const seed = chance.below(2 ** 31)
  const entries = sample(dirents, { seed, numRuns: 1 + chance.below(5) })
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const ids = sample(blockIds, { seed, numRuns: 1 + chance.below(3) })
  return [Dir.of([...byName.values()]).encoded(), encodeFile({ blockIds: ids, size: 1 + chance.below(1e9) })]
}

const TOKENS = [
  '"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'null',
  '-1',
  '1e99',
  '\\u0000',
  '"type"',
  '\xff',
  '/',
  '..',
  '[[[[[[[[[[[[',
]

describe('random fs objects', () => {
  it('are parsed to the original or rejected', async (t) => {
    await fuzz(t, async (chance) => {
      const [dir = Buffer.alloc(0), file = Buffer.alloc(0)] = objects(chance)
      assert.deepEqual(parseDir(dir).encoded(), dir)
      assert.deepEqual(encodeFile(parseFile(file)), file)
      for (const json of [dir, file]) {
        const mutated = chance.mutate(json, TOKENS)
        await outcome(() => parseDir(mutated).encoded(), [InvalidObject])
        await outcome(() => parseFile(mutated), [InvalidObject])
        const packed = chance.mutate(deflateSync(mutated), ['\0', '\xff', 'x'])
        const sent = { id: sha1Hex(mutated) as FsId, packed }
        const read = await outcome(() => readSent(sent, 100_000), [InvalidObject])
        // An accepted object matches its id.
        if ('value' in read && read.value !== undefined) assert.equal(read.value.id, sha1Hex(mutated))
      }
    })
  })
})

describe('random commits', () => {
  it('are parsed to the original or rejected', async (t) => {
    await fuzz(t, async (chance) => {
      const texts = ['', 'a', 'ä"\\', '😀', 'Added "x".']
      const commit: Commit = {
        id: hex(chance) as CommitId,
        libraryId: '12345678-1234-1234-1234-123456789abc' as LibraryId,
        rootId: hex(chance) as DirId,
        parentId: chance.is(0.5) ? (hex(chance) as CommitId) : null,
        secondParentId: chance.is(0.2) ? (hex(chance) as CommitId) : null,
        creator: hex(chance),
        creatorName: chance.one(['a@b.c', undefined]),
        description: chance.one(texts),
        ctime: chance.below(2 ** 31),
        deviceName: chance.one([undefined, 'laptop']),
        clientVersion: chance.one([undefined, '9.0.1']),
        conflict: chance.is(0.5),
        newMerge: chance.is(0.5),
      }
      const library = { name: chance.one(texts), description: chance.one(texts) }
      const encoded = encodeCommit(commit, library)
      const parsed = parseCommit(encoded)
      assert.deepEqual([parsed.commit, parsed.library], [commit, library])
      const mutated = chance.mutate(Buffer.from(encoded), TOKENS).toString('utf8')
      await outcome(() => parseCommit(mutated), [InvalidObject])
    })
  })
})

describe('random packets', () => {
  const read = async (pieces: readonly Buffer[]) => {
    const memory = new BodyMemory({ total: 100_000_000, waitMs: 10 })
    const claim = memory.claim('192.0.2.1')
    const waiting = [...pieces]
    const reader = new PacketReader({ read: () => waiting.shift(), fail: () => false }, claim)
    const taken: [string, string][] = []
    try {
      for (let object = await reader.next(); object !== undefined; object = await reader.next()) {
        taken.push([object.id, object.packed.toString('latin1')])
        // A returned packet belongs to the reader and is not overwritten.
        assert.ok(memory.used <= object.packed.length + 44)
      }
    } finally {
      claim.release()
      assert.equal(memory.used, 0)
    }
    return taken
  }

  it('are split at their boundaries or rejected, for every segmentation', async (t) => {
    await fuzz(t, async (chance) => {
      const packets = chance.many(
        5,
        () => [hex(chance), Buffer.concat([Buffer.from('x'), chance.bytes(200)])] as const,
      )
      const encoded = Buffer.concat(
        packets.flatMap(([id, packed]) => [packetHead(id as FsId, packed.length), packed]),
      )
      assert.deepEqual(
        await read(chance.pieces(encoded)),
        packets.map(([id, packed]) => [id, packed.toString('latin1')]),
      )
      const mutated = chance.mutate(encoded, ['\0', '\xff\xff\xff\xff', 'a'.repeat(40), '\0\0\0\0'])
      const whole = await outcome(() => read([mutated]), [Refusal])
      assert.deepEqual(await outcome(() => read(chance.pieces(mutated)), [Refusal]), whole)
    })
  })
})
