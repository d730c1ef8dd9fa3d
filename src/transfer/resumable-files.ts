import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { DataKey, TempFileCipher } from '../content/index.ts'

/** Bytes per read and per write. */
const PIECE_BYTES = 512 * 1024

/** The folder of incomplete resumable uploads. */
export class UploadFolder {
  readonly #directory: string
  /** Files that requests are writing. */
  readonly #open = new Set<string>()

  constructor(directory: string) {
    this.#directory = directory
  }

  async prepare(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await syncFolder(path.dirname(path.resolve(this.#directory)))
  }

  /** A new file for the bytes of one request. */
  async create(key: DataKey | undefined): Promise<ChunkFile> {
    const name = randomUUID()
    const file = path.join(this.#directory, name)
    this.#open.add(name)
    try {
      return new ChunkFile(name, file, await open(file, 'wx+', 0o600), key, () => this.#open.delete(name))
    } catch (error) {
      this.#open.delete(name)
      throw error
    }
  }

  isOpen(name: string): boolean {
    return this.#open.has(name)
  }

  /** Undefined if there is none of that name. */
  async open(name: string): Promise<FileHandle | undefined> {
    try {
      return await open(path.join(this.#directory, name), 'r+')
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /** Makes the entries of the folder durable. */
  sync(): Promise<void> {
    return syncFolder(this.#directory)
  }

  async remove(name: string): Promise<void> {
    await rm(path.join(this.#directory, name), { force: true })
  }

  list(): Promise<string[]> {
    return readdir(this.#directory)
  }

  /** Unix seconds of the last write; undefined if the file is gone. */
  async writtenAt(name: string): Promise<number | undefined> {
    try {
      return (await stat(path.join(this.#directory, name))).mtimeMs / 1000
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }
}

/** The bytes of one request. Disposing removes the file, unless `keep` was called. */
export class ChunkFile implements AsyncDisposable {
  readonly name: string
  readonly handle: FileHandle
  readonly #file: string
  readonly #key: DataKey | undefined
  readonly #onClosed: () => void
  readonly #cover: TempFileCipher | undefined
  #size = 0
  #kept = false

  constructor(
    name: string,
    file: string,
    handle: FileHandle,
    key: DataKey | undefined,
    onClosed: () => void,
  ) {
    this.name = name
    this.#file = file
    this.handle = handle
    this.#key = key
    this.#onClosed = onClosed
    this.#cover = this.coverOf(name)
  }

  /** The cipher of a file of this upload, derived from the library's key and the file name. */
  coverOf(name: string): TempFileCipher | undefined {
    return this.#key?.tempFileCipher(name)
  }

  /** Bytes. */
  get size(): number {
    return this.#size
  }

  async append(content: AsyncIterable<Buffer>): Promise<void> {
    let pieces: Buffer[] = []
    let held = 0
    for await (const piece of content) {
      pieces.push(piece)
      held += piece.length
      if (held < PIECE_BYTES) continue
      await this.#write(pieces, held)
      pieces = []
      held = 0
    }
    await this.#write(pieces, held)
  }

  /** Leaves the file where it is. */
  keep(): void {
    this.#kept = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handle.close()
    if (!this.#kept) await rm(this.#file, { force: true })
    this.#onClosed()
  }

  async #write(pieces: readonly Buffer[], length: number): Promise<void> {
    const [first] = pieces
    if (first === undefined) return
    const bytes = pieces.length === 1 ? first : Buffer.concat(pieces, length)
    await writeFully(this.handle, this.#cover?.apply(bytes, this.#size) ?? bytes, this.#size)
    this.#size += length
  }
}

/** Copies the first `length` bytes of a chunk to an offset of the file it belongs to. */
export async function addTo(
  { handle, cover }: { handle: FileHandle; cover: TempFileCipher | undefined },
  offset: number,
  chunk: ChunkFile,
  length: number,
): Promise<void> {
  let position = offset
  for await (const piece of piecesOf(chunk.handle, length, chunk.coverOf(chunk.name))) {
    await writeFully(handle, cover?.apply(piece, position) ?? piece, position)
    position += piece.length
  }
}

/** The first `length` decrypted bytes of a file, with a prefetch of one piece. */
export async function* piecesOf(
  handle: FileHandle,
  length: number,
  cover: TempFileCipher | undefined,
): AsyncGenerator<Buffer, void> {
  const read = (at: number) => {
    const next = at < length ? readFully(handle, at, Math.min(PIECE_BYTES, length - at)) : undefined
    next?.catch(() => {}) // Handled where it is awaited; on an early end nobody awaits it.
    return next
  }
  let position = 0
  let ahead = read(0)
  try {
    while (ahead !== undefined) {
      const piece = await ahead
      const plain = cover?.apply(piece, position) ?? piece
      position += piece.length
      ahead = read(position)
      yield plain
    }
  } finally {
    await ahead?.catch(() => {})
  }
}

async function readFully(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length)
  const { bytesRead } = await handle.read(buffer, 0, length, position)
  if (bytesRead < length) throw new Error(`A temporary upload file ends after ${position + bytesRead} bytes.`)
  return buffer
}

async function writeFully(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
