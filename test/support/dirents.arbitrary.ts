import type { TestContext } from 'node:test'
import * as fc from 'fast-check'
import { type Dirent, dirDirent, fileDirent } from '../../src/base/objects/dirent.ts'
import type { BlockId, DirId, FileId } from '../../src/base/objects/ids.ts'
import { isStorableName } from '../../src/base/paths/names.ts'

/** Runs a property with a new seed, which is printed. */
export function check<T>(t: TestContext, property: fc.IProperty<T>, runs = 200): void {
  const seed = Date.now() | 0
  t.diagnostic(`seed ${seed}`)
  fc.assert(property, { seed, numRuns: runs })
}

const oneOf = (text: string) => fc.constantFrom(...Array.from(text))
// Characters on both sides of each boundary: escapes, control characters, one to four bytes of
// UTF-8, the private use area and beyond, and characters that NFC changes.
const character = fc.oneof(
  { weight: 6, arbitrary: oneOf('abcXYZ019 .-_()') },
  { weight: 2, arbitrary: oneOf('"\\<>&\t\n\b\u0001\u001f\u007f\u0080é名ß') },
  { weight: 2, arbitrary: oneOf('\ud7ff\ue000\uf8ff\uff01\uffff😀𐀀\u{10ffff}') },
  { weight: 1, arbitrary: oneOf('e\u0301\u0327\u212b\u1100\u1161') },
)

/** Valid names of a pushed tree. */
export const names = fc.string({ unit: character, minLength: 1, maxLength: 12 }).filter(isStorableName)

const hexId = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString('hex'))
export const fileIds = hexId.map((id) => id as FileId)
const dirIds = hexId.map((id) => id as DirId)
export const blockIds = hexId.map((id) => id as BlockId)

const modifier = fc.oneof(fc.constantFrom('alice@example.com', 'b@x.y', ''), fc.string({ unit: character }))
const mtime = fc.oneof(fc.integer({ min: 1_600_000_000, max: 1_900_000_000 }), fc.maxSafeInteger())
const size = fc.oneof(fc.nat(), fc.maxSafeNat())

export const dirents: fc.Arbitrary<Dirent> = fc.oneof(
  fc
    .record({ id: fileIds, name: names, mode: fc.constantFrom(33188, 33261), mtime, size, modifier })
    .map((of) => fileDirent(of)),
  fc
    .record({ id: dirIds, name: names, mode: fc.constantFrom(16384, 16804), mtime })
    .map((of) => dirDirent(of)),
)

/** Entries of one dir, unordered. */
export const entryLists = (maxLength = 80) =>
  fc.uniqueArray(dirents, { selector: (entry) => entry.name, maxLength })

/** Changes at names of `entries` and at other names. */
export function changesTo(entries: readonly Dirent[]): fc.Arbitrary<Map<string, Dirent | null>> {
  const known = entries.length > 0 ? fc.constantFrom(...entries.map((entry) => entry.name)) : names
  const change = fc.record({ name: fc.oneof(known, names), entry: fc.option(dirents) })
  return fc
    .array(change, { maxLength: 12 })
    .map((list) => new Map(list.map(({ name, entry }) => [name, entry && { ...entry, name }])))
}
