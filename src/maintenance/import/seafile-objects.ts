import { inflateSync } from 'node:zlib'
import {
  type BlockId,
  type Commit,
  type CommitLibrary,
  Dir,
  type Dirent,
  dirDirent,
  EMPTY_ID,
  encodeFile,
  type FileObject,
  type FsId,
  fileDirent,
  fileId,
  InvalidObject,
  parseBlockId,
  parseCommit,
  parseDirId,
  parseFile,
  parseFileId,
  parseJson,
  sha1Hex,
} from '../../base/objects/index.ts'
import { freeName, isStorableName } from '../../base/paths/index.ts'

/** No object is longer. A dir of a million entries has less than half. */
export const MAX_OBJECT_BYTES = 512 * 2 ** 20
/** Memory that is allocated at once for the inflated bytes. Most objects are files with few blocks, which take less than the minimum. */
const INFLATE_CHUNK = { min: 1024, max: 64 * 1024 }
const DIR_TYPE = 3
const FILE_TYPE = 1

/** A commit of the source, and the version of the library that it belongs to. */
export interface SourceCommit {
  readonly commit: Commit
  readonly library: CommitLibrary
  readonly version: number
}

/** Parses a commit. One without a version is of version 0. Throws InvalidObject. */
export function parseSourceCommit(bytes: Buffer): SourceCommit {
  const json = parseJson(bytes.toString('utf8'))
  const { version = 0 } = json
  if (version !== 0 && version !== 1) throw new InvalidObject(`has the unknown version ${String(version)}`)
  // Version 0 differs only in the objects that a commit refers to.
  const encryption =
    json['encrypted'] === 'true' && json['enc_version'] === undefined ? { enc_version: 1 } : {}
  return { ...parseCommit(JSON.stringify({ ...json, ...encryption, version: 1 })), version }
}

/** A dir of the source. */
export interface SourceDir {
  /** As it was stored. Undefined if its entries had to be changed, or for version 0, whose dirs lack times and sizes. */
  readonly dir: Dir | undefined
  /** With the ids of the source, and names that can be stored. */
  readonly entries: readonly Dirent[]
  /** Names that could not be kept, and what they became. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[]
}

/** Parses the verified JSON of a dir of version 1. Throws InvalidObject. */
export function parseDirJson(json: Buffer): SourceDir {
  try {
    const dir = Dir.parse(json)
    return { dir, entries: dir.entries, renamed: [] }
  } catch (error) {
    if (!(error instanceof InvalidObject)) throw error
    return repairedDir(json)
  }
}

/** The JSON of an object of version 1, verified. Throws InvalidObject. */
export function inflateObject(id: FsId, stored: Buffer): Buffer {
  const chunkSize = Math.min(Math.max(4 * stored.length, INFLATE_CHUNK.min), INFLATE_CHUNK.max)
  let json: Buffer
  try {
    json = inflateSync(stored, { maxOutputLength: MAX_OBJECT_BYTES, chunkSize })
  } catch (cause) {
    throw new InvalidObject('is not zlib', { cause })
  }
  if (sha1Hex(json) !== id) throw new InvalidObject('does not hash to its id')
  return json
}

/** A dir with names that cannot be stored, in the wrong order, or with two entries of one name. */
function repairedDir(json: Buffer): SourceDir {
  // Read as bytes, because names that are not UTF-8 cannot be decoded. JSON itself is ASCII.
  const { type, dirents } = parseJson(json.toString('latin1'))
  if (type !== DIR_TYPE || !Array.isArray(dirents)) throw new InvalidObject('is not a dir')
  return withStorableNames(dirents.map(repairedEntry))
}

function repairedEntry(value: unknown): { name: string; dirent: Dirent } {
  const json = value as Record<string, unknown>
  const name = textOf(json['name'])
  const mode = Number(json['mode'])
  const mtime = Number.isSafeInteger(json['mtime']) ? Number(json['mtime']) : 0
  const text = String(json['id'])
  if ((mode & 0o170000) === 0o040000) {
    const id = parseDirId(text)
    if (id !== undefined) return { name, dirent: dirDirent({ id, name, mtime, mode }) }
  }
  const id = parseFileId(text)
  const size = Number(json['size'] ?? 0)
  if (id === undefined || !Number.isSafeInteger(size) || size < 0)
    throw new InvalidObject('has an entry without an id')
  return { name, dirent: fileDirent({ id, name, mtime, size, mode, modifier: textOf(json['modifier']) }) }
}

/** Text that was read as bytes. What is not UTF-8 becomes U+FFFD. */
function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : ''
  // Escapes in the JSON may stand for characters beyond one byte.
  const bytes = /[^\u0000-\u00ff]/.test(text) ? Buffer.from(text) : Buffer.from(text, 'latin1')
  return bytes.toString('utf8')
}

function withStorableNames(entries: readonly { name: string; dirent: Dirent }[]): SourceDir {
  const taken = new Set(entries.map(({ name }) => name).filter(isStorableName))
  const used = new Set<string>()
  const renamed: { from: string; to: string }[] = []
  const kept = entries.map(({ name, dirent }) => {
    if (isStorableName(name) && !used.has(name)) {
      used.add(name)
      return { ...dirent, name }
    }
    const to = freeName(storable(name), (one) => used.has(one) || taken.has(one))
    used.add(to)
    renamed.push({ from: name, to })
    return { ...dirent, name: to }
  })
  for (const { name } of kept) if (name.includes('\ufffd')) renamed.push({ from: name, to: name })
  return { dir: undefined, entries: kept, renamed }
}

function storable(name: string): string {
  const replaced = name.toWellFormed().replace(/[/\0]/g, '_')
  if (replaced === '' || replaced === '.' || replaced === '..') return `unnamed${replaced}`
  let short = replaced
  while (Buffer.byteLength(short) > 240) short = short.slice(0, -1)
  return short.toWellFormed()
}

/** Parses a dir of version 0: big-endian type, then mode, id in hex, length of the name, name. Throws InvalidObject. */
export function readDirV0(id: FsId, stored: Buffer): SourceDir {
  const fields = new Fields(stored)
  if (fields.number() !== DIR_TYPE) throw new InvalidObject('is not a dir')
  const hashed: Buffer[] = []
  const entries: { name: string; dirent: Dirent }[] = []
  while (!fields.isAtEnd) {
    const mode = fields.number()
    const target = fields.bytes(40)
    const nameBytes = fields.bytes(fields.number())
    const littleEndian = Buffer.alloc(4)
    littleEndian.writeUInt32LE(mode)
    hashed.push(target, nameBytes, littleEndian)
    const name = nameBytes.toString('utf8')
    const json = { id: target.toString('latin1'), mode, mtime: 0, size: 0 }
    entries.push({ name, dirent: { ...repairedEntry(json).dirent, name } })
  }
  if (sha1Hex(Buffer.concat(hashed)) !== id) throw new InvalidObject('does not hash to its id')
  return withStorableNames(entries)
}

/** A file of the source, under the id that it has here. */
export interface SourceFile {
  readonly id: FsId
  readonly file: FileObject
  /** The stored bytes, if only they hash to the id. */
  readonly asReceived: Buffer | undefined
}

/** Parses and verifies a file of version 1. Throws InvalidObject. */
export function readFile(id: FsId, stored: Buffer): SourceFile {
  const json = inflateObject(id, stored)
  const file = parseFile(json)
  if (file.blockIds.length === 0 || file.size === 0)
    return { id: EMPTY_ID, file: { blockIds: [], size: 0 }, asReceived: undefined }
  return { id, file, asReceived: encodeFile(file).equals(json) ? undefined : stored }
}

/** Parses a file of version 0: big-endian type, 64-bit size, the ids of the blocks in 20 bytes each. Throws InvalidObject. */
export function readFileV0(id: FsId, stored: Buffer): SourceFile {
  const fields = new Fields(stored)
  if (fields.number() !== FILE_TYPE) throw new InvalidObject('is not a file')
  const size = fields.long()
  const blockIds: BlockId[] = []
  const start = fields.position
  while (!fields.isAtEnd) {
    const block = parseBlockId(fields.bytes(20).toString('hex'))
    if (block === undefined) throw new InvalidObject('has a block without an id')
    blockIds.push(block)
  }
  if (sha1Hex(stored.subarray(start)) !== id) throw new InvalidObject('does not hash to its id')
  const file = { blockIds, size }
  return { id: fileId(file), file, asReceived: undefined }
}

/** Reads binary fields in order. Throws InvalidObject at the end of the bytes. */
class Fields {
  readonly #bytes: Buffer
  position = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.position >= this.#bytes.length
  }

  bytes(length: number): Buffer {
    const end = this.position + length
    if (end > this.#bytes.length) throw new InvalidObject('ends early')
    const bytes = this.#bytes.subarray(this.position, end)
    this.position = end
    return bytes
  }

  number(): number {
    return this.bytes(4).readUInt32BE()
  }

  long(): number {
    const value = this.bytes(8).readBigUInt64BE()
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new InvalidObject('is too long')
    return Number(value)
  }
}
