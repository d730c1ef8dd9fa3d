import {
  type BlockId,
  Dir,
  type Dirent,
  type DirId,
  type FileObject,
  InvalidObject,
  idFromBytes,
} from '../objects/index.ts'
import { compareNames } from '../paths/index.ts'
import { atOnce, type Slices } from '../scheduling/index.ts'
import { ByteReader, ByteWriter } from './binary.ts'
import { packEntries, packNames, unpackEntries, unpackNames } from './packed-entries.ts'

// Storage format of objects in the database. The first byte is the format, so that others can be added.
const SENT_DIR = 1
const PACKED_DIR = 2
const CHANGES = 3
const FILE = 4

export function packDir(dir: Dir): Buffer {
  return atOnce(packDirInSlices(dir))
}

export function* packDirInSlices(dir: Dir): Slices<Buffer> {
  const to = new ByteWriter()
  if (dir.canonical) {
    to.byte(PACKED_DIR)
    yield* packEntries(to, dir.entries)
  } else {
    // Only the bytes that the client sent hash to the id, so they are stored unchanged.
    to.byte(SENT_DIR)
    to.append(dir.encoded())
  }
  return to.finish()
}

/** Unpacks the dir with this id, which is trusted. Throws InvalidObject. */
export function unpackDir(bytes: Uint8Array, id: DirId): Dir {
  return atOnce(unpackDirInSlices(bytes, id))
}

export function* unpackDirInSlices(bytes: Uint8Array, id: DirId): Slices<Dir> {
  const from = new ByteReader(bytes)
  if (bytes[0] === SENT_DIR) return Dir.parse(from.bytes.subarray(1))
  expectFormat(from, PACKED_DIR)
  const entries: Dirent[] = []
  const ascii = yield* unpackEntries(from, entries)
  from.end()
  checkOrder(entries, ascii)
  return Dir.fromSorted(entries, id)
}

/** Streams the entries of a dir in batches, without building a Dir. Throws InvalidObject. */
export function* entriesInDir(bytes: Uint8Array): Generator<readonly Dirent[], void> {
  const from = new ByteReader(bytes)
  if (bytes[0] === SENT_DIR) {
    yield Dir.parse(from.bytes.subarray(1)).entries
    return
  }
  expectFormat(from, PACKED_DIR)
  const entries: Dirent[] = []
  for (const _ of unpackEntries(from, entries)) yield entries.splice(0)
  yield entries
}

/** The delta between two versions of a dir: an entry for each name set, null for each name removed. */
export function packChanges(changes: ReadonlyMap<string, Dirent | null>): Buffer {
  const removed: string[] = []
  const set: Dirent[] = []
  for (const [name, entry] of changes) {
    if (entry === null) removed.push(name)
    else if (entry.name === name) set.push(entry)
    else throw new Error(`The entry for ${name} is called ${entry.name}.`)
  }
  const to = new ByteWriter()
  to.byte(CHANGES)
  packNames(to, removed)
  atOnce(packEntries(to, set))
  return to.finish()
}

/** Throws InvalidObject. */
export function unpackChanges(bytes: Uint8Array): Map<string, Dirent | null> {
  const from = new ByteReader(bytes)
  expectFormat(from, CHANGES)
  const changes = new Map<string, Dirent | null>()
  const removed = unpackNames(from)
  for (const name of removed) changes.set(name, null)
  const set: Dirent[] = []
  atOnce(unpackEntries(from, set))
  from.end()
  for (const entry of set) changes.set(entry.name, entry)
  if (changes.size !== removed.length + set.length) throw new InvalidObject('changes a name twice')
  return changes
}

export function packFile({ blockIds, size }: FileObject): Buffer {
  const to = new ByteWriter()
  to.byte(FILE)
  to.varint(size)
  to.varint(blockIds.length)
  for (const id of blockIds) to.id(id)
  return to.finish()
}

/** Throws InvalidObject. */
export function unpackFile(bytes: Uint8Array): FileObject {
  const { size, blocks } = unpackBlocks(bytes)
  const blockIds: BlockId[] = []
  for (let at = 0; at < blocks.length; at += 20) blockIds.push(idFromBytes(blocks.subarray(at, at + 20)))
  return { blockIds, size }
}

/** The size of a file and the concatenated ids of its blocks. Throws InvalidObject. */
export function unpackBlocks(bytes: Uint8Array): { size: number; blocks: Buffer } {
  const from = new ByteReader(bytes)
  expectFormat(from, FILE)
  const size = from.varint()
  const count = from.count(20)
  const start = from.skip(20 * count)
  from.end()
  return { size, blocks: from.bytes.subarray(start) }
}

function expectFormat(from: ByteReader, format: number): void {
  if (from.bytes[from.skip(1)] !== format) throw new InvalidObject(`does not start with format ${format}`)
}

function checkOrder(entries: readonly Dirent[], ascii: boolean): void {
  for (let i = 1; i < entries.length; i++) {
    const before = (entries[i - 1] as Dirent).name
    const { name } = entries[i] as Dirent
    const ordered = ascii ? before > name : compareNames(before, name) > 0
    if (!ordered) throw new InvalidObject('is not in order')
  }
}
