import { isAscii, isUtf8 } from 'node:buffer'
import { type Dirent, type DirId, type FileId, InvalidObject } from '../objects/index.ts'
import type { Slices } from '../scheduling/index.ts'
import type { ByteReader, ByteWriter } from './binary.ts'

// Columnar format: the distinct traits (kind, mode and modifier), then the numbers of each entry (name length, trait index, mtime,
// size of a file), then all ids, then all names. About 30 bytes plus the name per entry.

type Traits = Pick<Dirent, 'kind' | 'mode' | 'modifier'>

// Entries packed or unpacked between two cooperative yields.
const ENTRIES_PER_SLICE = 1024

export function* packEntries(to: ByteWriter, entries: readonly Dirent[]): Slices {
  const [only] = entries
  if (only !== undefined && entries.length === 1) return packOne(to, only)
  const { traits, indexes } = collectTraits(entries)
  to.varint(entries.length)
  packTraits(to, traits)
  let mtime = 0
  for (const [i, entry] of entries.entries()) {
    if (i % ENTRIES_PER_SLICE === ENTRIES_PER_SLICE - 1) yield
    packNumbers(to, entry, indexes[i] as number, mtime)
    mtime = entry.mtime
  }
  for (let first = 0; first < entries.length; first += ENTRIES_PER_SLICE) {
    const some = entries.slice(first, first + ENTRIES_PER_SLICE)
    to.append(Buffer.from(some.map((entry) => entry.id).join(''), 'hex'))
    if (some.length === ENTRIES_PER_SLICE) yield
  }
  for (let first = 0; first < entries.length; first += ENTRIES_PER_SLICE) {
    const some = entries.slice(first, first + ENTRIES_PER_SLICE)
    to.utf8(some.map((entry) => entry.name).join(''))
    if (some.length === ENTRIES_PER_SLICE) yield
  }
}

/** Fast path for one entry, the most common change. */
function packOne(to: ByteWriter, entry: Dirent): void {
  to.varint(1)
  packTraits(to, [entry])
  packNumbers(to, entry, 0, 0)
  to.id(entry.id)
  to.utf8(entry.name)
}

function packTraits(to: ByteWriter, traits: readonly Traits[]): void {
  to.varint(traits.length)
  for (const { kind, mode, modifier } of traits) {
    to.byte(kind === 'dir' ? 1 : 0)
    to.varint(mode)
    packNames(to, [modifier])
  }
}

function packNumbers(to: ByteWriter, entry: Dirent, trait: number, lastMtime: number): void {
  to.varint(Buffer.byteLength(entry.name))
  to.varint(trait)
  packMtime(to, entry.mtime, lastMtime)
  if (entry.kind === 'file') to.varint(entry.size)
}

/**
 * Appends the entries to a list, slice by slice. Returns whether all names are ASCII. The names are not validated. Throws
 * InvalidObject.
 */
export function* unpackEntries(from: ByteReader, entries: Dirent[]): Slices<boolean> {
  const columns = yield* unpackColumns(from)
  const { names, numbers } = columns
  let nameAt = names
  for (let first = 0; first < numbers.count; first += GROUP) {
    nameAt = assemble(columns, first, nameAt, entries)
    if ((first + GROUP) % ENTRIES_PER_SLICE === 0) yield
  }
  return isAscii(from.bytes.subarray(names, names + numbers.nameBytes))
}

export function packNames(to: ByteWriter, names: readonly string[]): void {
  to.varint(names.length)
  for (const name of names) {
    to.varint(Buffer.byteLength(name))
    to.utf8(name)
  }
}

export function unpackNames(from: ByteReader): string[] {
  const names = []
  for (let left = from.count(1); left > 0; left--) {
    const length = from.varint()
    const at = from.skip(length)
    if (!isUtf8(from.bytes.subarray(at, at + length))) throw new InvalidObject('is not UTF-8')
    names.push(from.bytes.toString('utf8', at, at + length))
  }
  return names
}

function collectTraits(entries: readonly Dirent[]) {
  const traits: Traits[] = []
  const known = new Map<string, number>()
  let last: Dirent | undefined
  let index = 0
  const indexes = entries.map((entry) => {
    const { kind, mode, modifier } = entry
    if (kind === last?.kind && mode === last.mode && modifier === last.modifier) return index
    last = entry
    const key = `${kind} ${mode} ${modifier}`
    index = known.get(key) ?? traits.length
    if (index === traits.length) {
      known.set(key, index)
      traits.push(entry)
    }
    return index
  })
  return { traits, indexes }
}

function unpackTraits(from: ByteReader): Traits[] {
  const traits: Traits[] = []
  for (let left = from.count(4); left > 0; left--) {
    const kind = from.bytes[from.skip(1)] === 1 ? 'dir' : 'file'
    const mode = from.varint()
    const [modifier, ...others] = unpackNames(from)
    if (modifier === undefined || others.length > 0)
      throw new InvalidObject('has an entry without one modifier')
    traits.push({ kind, mode, modifier })
  }
  return traits
}

// From this distance on, twice the distance is not exact. A 0 then precedes the absolute time.
const FAR = 2 ** 51

/** Delta encoding, because neighbours often have close times. */
function packMtime(to: ByteWriter, mtime: number, last: number): void {
  const distance = mtime - last
  if (Math.abs(distance) < FAR) to.varint(distance >= 0 ? 2 * distance + 1 : -2 * distance)
  else {
    to.varint(0)
    to.double(mtime)
  }
}

function unpackMtime(from: ByteReader, last: number): number {
  const value = from.varint()
  const mtime = value === 0 ? from.double() : value % 2 === 1 ? last + (value - 1) / 2 : last - value / 2
  if (!Number.isSafeInteger(mtime)) throw new InvalidObject('has a time that is no integer')
  return mtime
}

interface Numbers {
  readonly count: number
  readonly nameLengths: Uint32Array
  readonly traitIndexes: Uint32Array
  readonly mtimes: Float64Array
  readonly sizes: Float64Array
  readonly nameBytes: number
}

function* unpackNumbers(from: ByteReader, count: number, traits: readonly Traits[]): Slices<Numbers> {
  const nameLengths = new Uint32Array(count)
  const traitIndexes = new Uint32Array(count)
  const mtimes = new Float64Array(count)
  const sizes = new Float64Array(count)
  let nameBytes = 0
  let mtime = 0
  for (let i = 0; i < count; i++) {
    if (i % ENTRIES_PER_SLICE === ENTRIES_PER_SLICE - 1) yield
    const length = from.varint()
    const index = from.varint()
    const trait = traits[index]
    if (length === 0 || length > 0xffff || !trait) throw new InvalidObject('has an entry that makes no sense')
    nameBytes += length
    nameLengths[i] = length
    traitIndexes[i] = index
    mtime = unpackMtime(from, mtime)
    mtimes[i] = mtime
    sizes[i] = trait.kind === 'file' ? from.varint() : 0
  }
  return { count, nameLengths, traitIndexes, mtimes, sizes, nameBytes }
}

// Ids and names are decoded in groups: fewer native calls, and an entry that outlives its dir
// retains only the text of its group.
const GROUP = 32

interface Columns {
  readonly bytes: Buffer
  readonly traits: readonly Traits[]
  readonly numbers: Numbers
  /** Offsets of the ids and of the names. */
  readonly ids: number
  readonly names: number
}

function* unpackColumns(from: ByteReader): Slices<Columns> {
  const count = from.count(23)
  const traits = unpackTraits(from)
  const numbers = yield* unpackNumbers(from, count, traits)
  const ids = from.skip(20 * count)
  const names = from.skip(numbers.nameBytes)
  if (!isUtf8(from.bytes.subarray(names, names + numbers.nameBytes))) throw new InvalidObject('is not UTF-8')
  return { bytes: from.bytes, traits, numbers, ids, names }
}

/** Appends the group that starts with entry `first`, whose name is at `nameAt`. Returns the offset of the next group's names. */
function assemble(
  { bytes, traits, numbers, ids }: Columns,
  first: number,
  nameAt: number,
  entries: Dirent[],
): number {
  const { count, nameLengths, traitIndexes, mtimes, sizes } = numbers
  const end = Math.min(first + GROUP, count)
  const hex = bytes.toString('hex', ids + 20 * first, ids + 20 * end)
  let groupBytes = 0
  for (let i = first; i < end; i++) groupBytes += nameLengths[i] as number
  const ascii = isAscii(bytes.subarray(nameAt, nameAt + groupBytes))
  const text = ascii ? bytes.toString('latin1', nameAt, nameAt + groupBytes) : ''
  for (let i = first, at = 0; i < end; i++) {
    const length = nameLengths[i] as number
    const { kind, mode, modifier } = traits[traitIndexes[i] as number] as Traits
    const id = hex.slice(40 * (i - first), 40 * (i - first + 1)) as DirId & FileId
    const name = ascii
      ? text.slice(at, at + length)
      : bytes.toString('utf8', nameAt + at, nameAt + at + length)
    entries.push({ kind, id, name, mode, mtime: mtimes[i] as number, size: sizes[i] as number, modifier })
    at += length
  }
  return nameAt + groupBytes
}
