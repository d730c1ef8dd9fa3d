import { type FileHandle, open, rm } from 'node:fs/promises'
import { poison } from '../../base/poison.ts'
import type { TempFileCipher } from '../../libraries/content/index.ts'
import type { ZipDirectory, ZipTarget } from './zip/writer.ts'

/** Size of the write and read buffers, in bytes. */
const BUFFER_BYTES = 1024 * 1024

interface ArchiveFileOptions {
  /** With a cipher, the file is stored encrypted. */
  readonly cover?: TempFileCipher | undefined
  /** Called before each buffer is written. What it throws is thrown to the caller. */
  readonly beforeWrite?: () => void
}

/**
 * An append-only temporary file with double buffering: one buffer is written while the other fills.
 * The file is created when the first buffer is full. Nothing is synced,
 * because no archive outlives the process. One call at a time.
 */
export class ArchiveFile implements ZipTarget, ZipDirectory, AsyncDisposable {
  readonly #path: string
  readonly #cover: TempFileCipher | undefined
  readonly #beforeWrite: () => void
  #handle: FileHandle | undefined
  #buffer: Buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  #spare: Buffer | undefined
  #filled = 0
  /** File offset of the buffer. */
  #start = 0
  #writing: Promise<void> = Promise.resolve()

  constructor(path: string, { cover, beforeWrite = () => {} }: ArchiveFileOptions = {}) {
    this.#path = path
    this.#cover = cover
    this.#beforeWrite = beforeWrite
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      const some = bytes.subarray(from, from + BUFFER_BYTES - this.#filled)
      this.#buffer.set(some, this.#filled)
      this.#filled += some.length
      from += some.length
      if (this.#filled === BUFFER_BYTES) await this.#swap()
    }
  }

  async patch(position: number, bytes: Uint8Array): Promise<void> {
    const inFile = Math.min(Math.max(this.#start - position, 0), bytes.length)
    this.#buffer.set(bytes.subarray(inFile), Math.max(position - this.#start, 0))
    if (inFile === 0) return
    await this.#writing
    await this.#write(bytes.subarray(0, inFile), position)
  }

  /** Everything appended, from the start. */
  async *read(): AsyncGenerator<Buffer, void> {
    await this.#writing
    for (let position = 0; position < this.#start; ) {
      const chunk = Buffer.allocUnsafe(Math.min(BUFFER_BYTES, this.#start - position))
      const { bytesRead } = await (await this.#open()).read(chunk, 0, chunk.length, position)
      if (bytesRead === 0) throw new Error('A temporary file of an archive was cut short.')
      const bytes = chunk.subarray(0, bytesRead)
      yield this.#cover?.apply(bytes, position) ?? bytes
      position += bytesRead
    }
    yield this.#buffer.subarray(0, this.#filled)
  }

  /** Flushes the buffers. The file is then complete and readable. */
  async close(): Promise<void> {
    await this.#swap()
    await this.#writing
    await this.#handle?.close()
    this.#handle = undefined
  }

  /** Closes and removes the file, in any state. */
  async [Symbol.asyncDispose](): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    try {
      await this.#writing.catch(() => {})
      await handle?.close()
    } finally {
      await rm(this.#path, { force: true })
    }
  }

  /** Starts writing the full buffer, once the one before is written. */
  async #swap(): Promise<void> {
    await this.#writing
    this.#beforeWrite()
    const full = this.#buffer
    const writing = this.#write(full.subarray(0, this.#filled), this.#start)
    writing.catch(() => {}) // The next call reports it.
    this.#writing = writing
    this.#start += this.#filled
    this.#filled = 0
    if (this.#spare !== undefined) poison(this.#spare)
    this.#buffer = this.#spare ?? Buffer.allocUnsafe(BUFFER_BYTES)
    this.#spare = full
  }

  async #write(plain: Uint8Array, position: number): Promise<void> {
    const handle = await this.#open()
    const bytes = this.#cover?.apply(plain, position) ?? plain
    for (let from = 0; from < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, from, bytes.length - from, position + from)
      from += bytesWritten
    }
  }

  async #open(): Promise<FileHandle> {
    this.#handle ??= await open(this.#path, 'wx+', 0o600)
    return this.#handle
  }
}
