import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { addToCrc, createPacker } from './compression.ts'
import {
  directoryRecord,
  endRecords,
  localHeader,
  type ZipContent,
  type ZipEntry,
  type ZipMethod,
} from './records.ts'

/** The target of an archive: append, and overwrite at an earlier offset. */
export interface ZipTarget {
  append(bytes: Uint8Array): Promise<void>
  /** Bytes appended earlier are replaced by as many others. */
  patch(position: number, bytes: Uint8Array): Promise<void>
}

/** Spill file of the central directory, which may have millions of records. */
export interface ZipDirectory {
  append(bytes: Uint8Array): Promise<void>
  /** All of it, in order. */
  read(): AsyncIterable<Uint8Array>
}

/** The size of a file differs from the stated one. */
export class ZipSizeMismatch extends Error {
  override name = 'ZipSizeMismatch'
}

const NOTHING: ZipContent = { method: 'stored', crc: 0, size: 0, packedSize: 0 }

/**
 * Writes an archive, entry by entry, with Zip64 where something needs it. Sizes and CRC stand in front of
 * the bytes of every entry: a header is written again once they are known. The other way, a descriptor
 * behind the bytes (flag bit 3), cannot be read from a stream when the bytes are merely stored, and
 * several tools refuse it. One call at a time; after a throw the archive is worthless.
 */
export class ZipWriter {
  readonly #target: ZipTarget
  readonly #directory: ZipDirectory
  #position = 0
  #entries = 0
  #directorySize = 0

  constructor(target: ZipTarget, directory: ZipDirectory) {
    this.#target = target
    this.#directory = directory
  }

  /** A folder; needed only if it is empty. Its name ends in `/`. */
  addFolder(entry: ZipEntry): Promise<void> {
    return this.#addKnown(entry, NOTHING, undefined)
  }

  /** A file in memory, in its stored form. */
  addWhole(
    entry: ZipEntry,
    file: { bytes: Uint8Array; method: ZipMethod; packed: Uint8Array },
  ): Promise<void> {
    const { bytes, method, packed } = file
    const content = { method, crc: addToCrc(0, bytes), size: bytes.length, packedSize: packed.length }
    return this.#addKnown(entry, content, packed)
  }

  /** A file of any length. Throws ZipSizeMismatch if it has not `size` bytes, and what `chunks` throws. */
  async addStream(
    entry: ZipEntry,
    file: { size: number; method: ZipMethod; chunks: AsyncIterable<Buffer> },
  ): Promise<void> {
    const offset = this.#position
    const { size, method } = file
    await this.#append(localHeader(entry, { method, crc: 0, size, packedSize: 0 }))
    const start = this.#position
    const crc = await (method === 'stored' ? this.#store(file) : this.#deflate(file))
    const content = { method, crc, size, packedSize: this.#position - start }
    await this.#target.patch(offset, localHeader(entry, content))
    await this.#record(entry, content, offset)
  }

  /** Ends the archive and returns its length in bytes. */
  async finish(): Promise<number> {
    const offset = this.#position
    for await (const bytes of this.#directory.read()) await this.#append(bytes)
    await this.#append(endRecords(this.#entries, this.#directorySize, offset))
    return this.#position
  }

  async #addKnown(entry: ZipEntry, content: ZipContent, packed: Uint8Array | undefined): Promise<void> {
    const offset = this.#position
    await this.#append(localHeader(entry, content))
    if (packed !== undefined) await this.#append(packed)
    await this.#record(entry, content, offset)
  }

  async #store(file: { size: number; chunks: AsyncIterable<Buffer> }): Promise<number> {
    const counted = new CountedBytes(file.chunks, file.size)
    for await (const chunk of counted.read()) await this.#append(chunk)
    return counted.crc
  }

  async #deflate(file: { size: number; chunks: AsyncIterable<Buffer> }): Promise<number> {
    const counted = new CountedBytes(file.chunks, file.size)
    await pipeline(Readable.from(counted.read()), createPacker(), async (packed: AsyncIterable<Buffer>) => {
      for await (const chunk of packed) await this.#append(chunk)
    })
    return counted.crc
  }

  async #record(entry: ZipEntry, content: ZipContent, offset: number): Promise<void> {
    const record = directoryRecord(entry, content, offset)
    await this.#directory.append(record)
    this.#directorySize += record.length
    this.#entries += 1
  }

  async #append(bytes: Uint8Array): Promise<void> {
    await this.#target.append(bytes)
    this.#position += bytes.length
  }
}

/** Passes bytes through, computes their CRC, and checks their number. */
class CountedBytes {
  readonly #chunks: AsyncIterable<Buffer>
  readonly #size: number
  crc = 0

  constructor(chunks: AsyncIterable<Buffer>, size: number) {
    this.#chunks = chunks
    this.#size = size
  }

  async *read(): AsyncGenerator<Buffer, void> {
    let count = 0
    for await (const chunk of this.#chunks) {
      count += chunk.length
      if (count > this.#size) break
      this.crc = addToCrc(this.crc, chunk)
      yield chunk
    }
    if (count !== this.#size)
      throw new ZipSizeMismatch(`A file has not the ${this.#size} bytes it should have.`)
  }
}
