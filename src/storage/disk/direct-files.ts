import { closeSync, constants, open, write } from 'node:fs'
import type { ChunkBuffers } from './chunk-buffers.ts'
import { codeOf } from './disk-errors.ts'
import { type ReadAt, readerOf } from './file-chunks.ts'

/** What addresses, places and lengths of transfers past the page cache are multiples of, on any disk of today. */
export const ALIGNMENT = 4096

/** A file opened to be read or written past the page cache. Whoever opens it has it open otherwise too. */
export class DirectFile implements Disposable {
  readonly #fd: number

  private constructor(fd: number) {
    this.#fd = fd
  }

  /** Undefined where the system or the file system knows no such thing. */
  static open(path: string, access: 'read' | 'write'): Promise<DirectFile | undefined> {
    const { O_DIRECT, O_RDONLY, O_WRONLY } = constants as Partial<typeof constants>
    const flags = access === 'read' ? O_RDONLY : O_WRONLY
    return new Promise((resolve) => {
      if (O_DIRECT === undefined || flags === undefined) resolve(undefined)
      else
        open(path, O_DIRECT | flags, (error, fd) => resolve(error === null ? new DirectFile(fd) : undefined))
    })
  }

  /** How many bytes were taken. */
  write(bytes: Uint8Array, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      write(this.#fd, bytes, 0, bytes.length, position, (error, bytesWritten) =>
        error === null ? resolve(bytesWritten) : reject(error),
      )
    })
  }

  /** Reads past the page cache what goes into memory of `buffers` that begins a page, and all else as `otherwise` does. */
  reader(buffers: ChunkBuffers, otherwise: ReadAt): ReadAt {
    const readAt = readerOf(this.#fd)
    return async (buffer, position) => {
      if (!buffers.isAligned(buffer) || position % ALIGNMENT !== 0) return otherwise(buffer, position)
      const length = Math.ceil(buffer.length / ALIGNMENT) * ALIGNMENT
      try {
        const bytesRead = await readAt(Buffer.from(buffer.buffer, buffer.byteOffset, length), position)
        return Math.min(bytesRead, buffer.length)
      } catch (error) {
        // The disk wants something else than what is common.
        if (codeOf(error) === 'EINVAL') return otherwise(buffer, position)
        throw error
      }
    }
  }

  /** Nothing must be under way. There is nothing to wait for, as the file is still open otherwise. */
  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }
}
