import { crc32 } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel, type ZipFile } from 'yauzl'
import { DomainError } from '../../base/errors.ts'
import { parseName } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { StoredBytes } from '../content/index.ts'
import { StoredReader } from './stored-reader.ts'

/** Deeper folders are refused: no program makes them by itself. */
const MAX_DEPTH = 100
/** The extra field with the name in UTF-8. */
const UNICODE_PATH = 0x7075

/** The name of an entry as it is in the archive. Names without the UTF-8 flag are UTF-8 if they can be, which macOS relies on. */
function nameOf({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string {
  const hasUnicodePath = extraFields.some(({ id }) => id === UNICODE_PATH)
  const utf8 = hasUnicodePath ? undefined : decodeUtf8(fileNameRaw)
  return utf8 ?? getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false).toWellFormed()
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * The path of an entry as names of a library; undefined if it is unsafe or cannot be stored: absolute, with `..`, with a drive letter, too
 * deep, or with characters that no name may have.
 */
function segmentsOfEntry(name: string): string[] | undefined {
  // Some programs for Windows write backslashes.
  const path = name.replaceAll('\\', '/')
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return undefined
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.length === 0 || parts.length > MAX_DEPTH) return undefined
  const segments = parts.map(parseName)
  return segments.every((segment) => segment !== undefined) ? segments : undefined
}

/** Maximum bytes of the names and other details of all entries, which are held in memory. */
const MAX_DIRECTORY_BYTES = 16 * 2 ** 20

/** Why an entry is not extracted: an unsafe name, a symbolic link or device, a password, or an unknown compression. */
type Refusal = 'name' | 'link' | 'password' | 'method'

/** An entry of an archive. */
export interface ZipEntry {
  /** The name as written in the archive. It may be unsafe. */
  readonly name: string
  /** The path as names of a library; undefined if it is unsafe. */
  readonly segments: readonly string[] | undefined
  readonly isDir: boolean
  /** Bytes, as the archive claims. `read` never yields more. */
  readonly size: number
  readonly packedSize: number
  /** Unix seconds; undefined if it has none. */
  readonly mtime: number | undefined
  readonly refusal: Refusal | undefined
  /** For `read`. */
  readonly source: Entry
}

const UNIX = 3
const FILE_TYPES = 0o170000
const REGULAR_TYPES: readonly number[] = [0, 0o040000, 0o100000]

/** A zip archive in a library. Only its directory and the entries that are asked for are read. */
export class ZipArchive implements Disposable {
  readonly #reader: StoredReader
  readonly #file: ZipFile
  /** Number of entries, as the archive claims. */
  readonly entryCount: number

  private constructor(reader: StoredReader, file: ZipFile) {
    this.#reader = reader
    this.#file = file
    this.entryCount = file.entryCount
  }

  /** Throws archive-unreadable, and the errors of `stored`. */
  static async open(stored: StoredBytes): Promise<ZipArchive> {
    const reader = new StoredReader(stored)
    try {
      const file = await fromRandomAccessReaderPromise(reader, stored.size, {
        autoClose: false,
        // Unsafe names are refused one by one instead of failing the archive.
        decodeStrings: false,
      })
      return new ZipArchive(reader, file)
    } catch (error) {
      throw reader.failure ?? unreadable('is no zip archive, or damaged', error)
    }
  }

  /** All entries in the order of the archive. Can be called once. Throws like `open`. */
  async *entries(): AsyncGenerator<ZipEntry, void> {
    let bytes = 0
    const entries = this.#file.eachEntry()
    // Most entries are in a buffer that was read before, so nothing else would let other requests run (I10).
    const slicer = new TimeSlicer()
    for (;;) {
      if (slicer.isDue) await slicer.rest()
      const next = await entries.next().catch((error: unknown) => {
        throw this.#reader.failure ?? unreadable('is damaged', error)
      })
      if (next.done) return
      const source: Entry = next.value
      bytes += 46 + source.fileNameRaw.length + source.extraFieldRaw.length + source.fileCommentRaw.length
      if (bytes > MAX_DIRECTORY_BYTES) throw unreadable('has too many entries')
      yield entryOf(source)
    }
  }

  /** The bytes of an entry, checked against its checksum. Throws like `open`. */
  async *read({ source }: ZipEntry): AsyncGenerator<Buffer, void> {
    let checksum = 0
    try {
      const stream = await this.#file.openReadStreamPromise(source)
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        checksum = crc32(chunk, checksum)
        yield chunk
      }
    } catch (error) {
      throw this.#reader.failure ?? unreadable('is damaged', error)
    }
    if (checksum !== source.crc32) throw unreadable('is damaged')
  }

  [Symbol.dispose](): void {
    this.#file.close()
  }
}

function entryOf(source: Entry): ZipEntry {
  const name = nameOf(source)
  const segments = segmentsOfEntry(name)
  return {
    name,
    segments,
    isDir: /[/\\]$/.test(name),
    size: source.uncompressedSize,
    packedSize: source.compressedSize,
    mtime: mtimeOf(source),
    refusal: refusalOf(source, segments),
    source,
  }
}

function refusalOf(source: Entry, segments: readonly string[] | undefined): Refusal | undefined {
  if (segments === undefined) return 'name'
  const type = source.versionMadeBy >>> 8 === UNIX ? (source.externalFileAttributes >>> 16) & FILE_TYPES : 0
  if (!REGULAR_TYPES.includes(type)) return 'link'
  if (source.isEncrypted()) return 'password'
  return source.canDecodeFileData() ? undefined : 'method'
}

function mtimeOf(source: Entry): number | undefined {
  const time = Math.floor(source.getLastModDate().getTime() / 1000)
  return Number.isSafeInteger(time) && time > 0 ? time : undefined
}

/** `reason` follows "The file". */
function unreadable(reason: string, cause?: unknown): DomainError {
  return new DomainError({ code: 'archive-unreadable', reason }, { cause })
}
