import { compareNames, comparesNatively, isStorableName, toNfc } from '../paths/index.ts'
import { atOnce, type Slices } from '../scheduling/index.ts'
import { EncodedDirents } from './dir-encoding.ts'
import { type Dirent, indexOf } from './dirent.ts'
import { type DirId, emptyDirId, parseDirId, parseFileId, sha1Hex } from './ids.ts'
import { asArray, asId, asInteger, asObject, asText, InvalidObject, parseJson } from './json-fields.ts'

/** An encoded dir, and the names at which another version may differ from it. */
interface Donor {
  readonly encoded: EncodedDirents
  readonly names: readonly string[]
}

/** An immutable list of dirents, ordered by the bytes of their names, descending. */
export class Dir {
  static readonly empty = new Dir([], emptyDirId)

  readonly entries: readonly Dirent[]
  #id: DirId | undefined
  #encoded: EncodedDirents | undefined
  /** Encoding of an earlier version that this one can be spliced from. Released once this dir is encoded. */
  #donor: Donor | undefined
  /** The bytes a client sent, if they are not canonical. */
  #sent: Buffer | undefined
  /** Entries whose names are not NFC, by the NFC of their names; null if there are none. */
  #composed: Map<string, Dirent> | null | undefined
  #weight = 0

  private constructor(entries: readonly Dirent[], id: DirId | undefined) {
    this.entries = entries
    this.#id = id
  }

  /** Sorts entries in any order. Throws if two have the same name. */
  static of(entries: Iterable<Dirent>): Dir {
    const sorted = [...entries]
    const native = sorted.every(({ name }) => comparesNatively(name))
    sorted.sort(native ? byNameDescending : (a, b) => compareNames(b.name, a.name))
    for (let i = 1; i < sorted.length; i++) {
      const name = sorted[i]?.name
      if (sorted[i - 1]?.name === name) throw new Error(`Two entries are called ${JSON.stringify(name)}.`)
    }
    return Dir.fromSorted(sorted)
  }

  /** Entries in stored order, and the id if known. Both are trusted. */
  static fromSorted(entries: readonly Dirent[], id?: DirId): Dir {
    return entries.length === 0 && (id === undefined || id === emptyDirId) ? Dir.empty : new Dir(entries, id)
  }

  /** Parses a dir in any JSON form. Its id is the hash of exactly these bytes. Throws InvalidObject. */
  static parse(bytes: Buffer): Dir {
    const entries = parseDirents(bytes)
    const dir = new Dir(entries, sha1Hex(bytes) as DirId)
    const encoded = atOnce(EncodedDirents.of(entries))
    if (entries.length > 0 && encoded.join().equals(bytes)) dir.#encoded = encoded
    else dir.#sent = Buffer.copyBytesFrom(bytes)
    return dir
  }

  /** Number of entries. */
  get size(): number {
    return this.entries.length
  }

  get id(): DirId {
    return this.#id ?? atOnce(this.identify())
  }

  /** The id, computed in slices if it is not known: hashing a folder of a million entries takes a tenth of a second. */
  *identify(): Slices<DirId> {
    if (this.#id !== undefined) return this.#id
    const encoding = yield* this.#encoding()
    this.#id = (yield* encoding.hash()) as DirId
    return this.#id
  }

  /** False if a client sent another JSON form. Only `encoded` returns its bytes. */
  get canonical(): boolean {
    return this.#sent === undefined
  }

  /** The bytes that the id is the hash of. */
  encoded(): Buffer {
    return this.#sent ?? atOnce(this.#encoding()).join()
  }

  *#encoding(): Slices<EncodedDirents> {
    if (this.#encoded !== undefined) return this.#encoded
    const donor = this.#donor
    this.#encoded = yield* donor?.encoded.splice(this.entries, donor.names) ?? EncodedDirents.of(this.entries)
    this.#donor = undefined
    return this.#encoded
  }

  /** Approximate bytes of memory of this dir once encoded. Constant. */
  get weight(): number {
    if (this.#weight === 0) {
      let weight = 512
      for (const entry of this.entries) weight += weightOf(entry)
      this.#weight = weight
    }
    return this.#weight
  }

  /** The entry with exactly this name. */
  find(name: string): Dirent | undefined {
    const entry = this.entries[indexOf(this.entries, name, 0)]
    return entry?.name === name ? entry : undefined
  }

  /** The entry with this name, otherwise one whose name is equal after NFC normalization. */
  resolve(name: string): Dirent | undefined {
    const exact = this.find(name)
    if (exact) return exact
    const nfc = toNfc(name)
    return (nfc === name ? undefined : this.find(nfc)) ?? this.#uncomposed()?.get(nfc)
  }

  #uncomposed(): Map<string, Dirent> | null {
    if (this.#composed === undefined) {
      this.#composed = null
      for (const entry of this.entries) {
        const nfc = toNfc(entry.name)
        if (nfc === entry.name) continue
        this.#composed ??= new Map()
        if (!this.#composed.has(nfc)) this.#composed.set(nfc, entry)
      }
    }
    return this.#composed
  }

  /**
   * This dir with entries set, or removed where the change is null. The id of the result, if given, is
   * trusted.
   */
  with(changes: ReadonlyMap<string, Dirent | null>, id?: DirId): Dir {
    const entries = applyChanges(this.entries, changes)
    if (entries === this.entries) return this
    if (entries.length === 0) return Dir.empty
    const dir = new Dir(entries, id)
    if (this.#weight > 0) dir.#weight = this.#weight + this.#added(changes)
    dir.#donor = this.#donorFor(changes)
    if (this.#composed === null && [...changes.keys()].every((name) => toNfc(name) === name))
      dir.#composed = null
    return dir
  }

  /** The encoding that this dir with these changes can be spliced from; undefined for many changes. */
  #donorFor(changes: ReadonlyMap<string, Dirent | null>): Donor | undefined {
    if (areMany(changes, this.entries)) return undefined
    const names = [...changes.keys()]
    if (this.#encoded !== undefined) return { encoded: this.#encoded, names }
    const donor = this.#donor
    // A chain of versions that are only read is never encoded, so the list of names is bounded.
    if (donor === undefined || donor.names.length + names.length > MANY) return undefined
    return { encoded: donor.encoded, names: [...donor.names, ...names] }
  }

  /** The change of weight by these changes. */
  #added(changes: ReadonlyMap<string, Dirent | null>): number {
    let added = 0
    for (const [name, entry] of changes) added += weightOf(entry) - weightOf(this.find(name))
    return added
  }
}

function weightOf(entry: Dirent | null | undefined): number {
  return entry ? 320 + 3 * entry.name.length : 0
}

/** A dir in any JSON form; see Dir.parse. */
export function parseDir(bytes: Buffer): Dir {
  return Dir.parse(bytes)
}

function byNameDescending(a: Dirent, b: Dirent): number {
  if (a.name === b.name) return 0
  return a.name < b.name ? 1 : -1
}

const MAX_CONCAT_ARGUMENTS = 1000
/** With this many changes, entries are merged one by one and encoded from scratch, because runs would be short. */
const MANY = 256

function areMany(changes: { readonly size: number }, entries: readonly Dirent[]): boolean {
  return changes.size >= MANY && changes.size * 8 >= entries.length
}

/** The same array if nothing changes. */
function applyChanges(entries: readonly Dirent[], changes: ReadonlyMap<string, Dirent | null>) {
  for (const [name, entry] of changes) {
    if (entry && entry.name !== name) throw new Error(`The entry for ${name} is called ${entry.name}.`)
  }
  const names = [...changes.keys()]
  const native = names.every(comparesNatively)
  // Without a comparator the engine sorts in native code.
  if (native) names.sort().reverse()
  else names.sort((a, b) => compareNames(b, a))
  return areMany(changes, entries)
    ? applyMany(entries, changes, names, native)
    : applyFew(entries, changes, names)
}

/** Copies unchanged entries in runs, not one by one. */
function applyFew(
  entries: readonly Dirent[],
  changes: ReadonlyMap<string, Dirent | null>,
  names: readonly string[],
) {
  const [only] = names
  if (only !== undefined && names.length === 1) return applyOne(entries, only, changes.get(only))
  const runs: (readonly Dirent[])[] = []
  let from = 0
  let changed = false
  for (const name of names) {
    const entry = changes.get(name)
    const at = indexOf(entries, name, from)
    const present = entries[at]?.name === name ? entries[at] : undefined
    if (at > from) runs.push(entries.slice(from, at))
    if (entry) runs.push([entry])
    changed ||= (entry ?? undefined) !== present
    from = present ? at + 1 : at
  }
  if (!changed) return entries
  runs.push(entries.slice(from))
  // `concat` copies whole runs, but the number of arguments is limited.
  return runs.length <= MAX_CONCAT_ARGUMENTS ? ([] as Dirent[]).concat(...runs) : runs.flat()
}

function applyOne(entries: readonly Dirent[], name: string, entry: Dirent | null | undefined) {
  const at = indexOf(entries, name, 0)
  const present = entries[at]?.name === name ? entries[at] : undefined
  if ((entry ?? undefined) === present) return entries
  return entries.toSpliced(at, present ? 1 : 0, ...(entry ? [entry] : []))
}

/** Merges both sorted lists in one pass. */
function applyMany(
  entries: readonly Dirent[],
  changes: ReadonlyMap<string, Dirent | null>,
  names: readonly string[],
  native: boolean,
) {
  const result: Dirent[] = []
  let at = 0
  let changed = false
  for (const name of names) {
    let present = entries[at]
    while (present && (native ? present.name > name : compareNames(present.name, name) > 0)) {
      result.push(present)
      present = entries[++at]
    }
    const entry = changes.get(name)
    const same = present?.name === name ? present : undefined
    if (entry) result.push(entry)
    if (same) at += 1
    changed ||= (entry ?? undefined) !== same
  }
  if (!changed) return entries
  for (; at < entries.length; at++) result.push(entries[at] as Dirent)
  return result
}

/** The entries of a dir in any JSON form. Throws InvalidObject. */
function parseDirents(bytes: Buffer): Dirent[] {
  const dir = parseJson(bytes)
  if (dir.type !== 3) throw new InvalidObject('type is not 3, a dir')
  asInteger(dir.version, 'version', 1)
  const entries = asArray(dir.dirents, 'dirents').map(parseDirent)
  for (let i = 1; i < entries.length; i++) {
    const order = compareNames((entries[i - 1] as Dirent).name, (entries[i] as Dirent).name)
    if (order === 0) throw new InvalidObject(`two entries are called ${JSON.stringify(entries[i]?.name)}`)
    if (order < 0) throw new InvalidObject(`wrong order at ${JSON.stringify(entries[i]?.name)}`)
  }
  return entries
}

function parseDirent(value: unknown): Dirent {
  const json = asObject(value, 'a dirent')
  const name = asText(json.name, 'a name')
  if (!isStorableName(name)) throw new InvalidObject(`${JSON.stringify(name)} cannot be a name`)
  const mode = asInteger(json.mode, 'mode', 0, 0xffff_ffff)
  const mtime = asInteger(json.mtime, 'mtime', Number.MIN_SAFE_INTEGER)
  switch (mode & 0o170000) {
    case 0o040000:
      return { kind: 'dir', id: asId(json.id, 'id', parseDirId), name, mode, mtime, size: 0, modifier: '' }
    case 0o100000: {
      const id = asId(json.id, 'id', parseFileId)
      const size = asInteger(json.size, 'size', 0)
      return { kind: 'file', id, name, mode, mtime, size, modifier: asText(json.modifier, 'modifier') }
    }
    default:
      throw new InvalidObject(`mode ${mode} is neither a file nor a dir`)
  }
}
