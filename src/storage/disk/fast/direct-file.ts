import { closeSync, constants, open, write } from 'node:fs'
import { codeOf } from '../disk-errors.ts'
import type { ChunkBufferPool } from './chunk-buffer-pool.ts'
import { type ReadAt, readerOf } from './file-chunks.ts'

/** Addresses, offsets and lengths of O_DIRECT transfers are multiples of this on current disks. */
export const ALIGNMENT = 4096

/** A file opened with O_DIRECT (unbuffered). The caller also holds a buffered descriptor, so closing this one never frees the inode. */
export class DirectFile implements Disposable {
  readonly #fd: number

  private constructor(fd: number) {
    this.#fd = fd
  }

  /** Undefined if the system or the file system does not support O_DIRECT. */
  static open(path: string, access: 'read' | 'write'): Promise<DirectFile | undefined> {
    const { O_DIRECT, O_RDONLY, O_WRONLY } = constants as Partial<typeof constants>
    const flags = access === 'read' ? O_RDONLY : O_WRONLY
    return new Promise((resolve) => {
      if (O_DIRECT === undefined || flags === undefined) resolve(undefined)
      else
        open(path, O_DIRECT | flags, (error, fd) => resolve(error === null ? new DirectFile(fd) : undefined))
    })
  }

  /** Resolves to the number of bytes written. */
  write(bytes: Uint8Array, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      write(this.#fd, bytes, 0, bytes.length, position, (error, bytesWritten) =>
        error === null ? resolve(bytesWritten) : reject(error),
      )
    })
  }

  /** Reads unbuffered into aligned buffers of the pool, and with `buffered` into others. */
  reader(pool: ChunkBufferPool, buffered: ReadAt): ReadAt {
    const readAt = readerOf(this.#fd)
    return async (buffer, position) => {
      if (!pool.isAligned(buffer) || position % ALIGNMENT !== 0) return buffered(buffer, position)
      const length = Math.ceil(buffer.length / ALIGNMENT) * ALIGNMENT
      try {
        const bytesRead = await readAt(Buffer.from(buffer.buffer, buffer.byteOffset, length), position)
        return Math.min(bytesRead, buffer.length)
      } catch (error) {
        // The disk requires a larger alignment.
        if (codeOf(error) === 'EINVAL') return buffered(buffer, position)
        throw error
      }
    }
  }

  /** No transfer may be in progress. */
  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }
}
