import type { FileHandle } from 'node:fs/promises'
import { codeOf } from '../disk-errors.ts'
import { ALIGNMENT, DirectFile } from './direct-file.ts'

/**
 * Writes a long file with O_DIRECT where the file system supports it, and buffered elsewhere. Copying into the page cache would cost a long
 * upload a third of its processor time.
 */
export class DirectWriter implements Disposable {
  readonly #handle: FileHandle
  #direct: DirectFile | undefined
  #unbufferedBytes = 0

  private constructor(handle: FileHandle, direct: DirectFile | undefined) {
    this.#handle = handle
    this.#direct = direct
  }

  /** `handle` is open on the file at `path`; the caller closes it. */
  static async open(handle: FileHandle, path: string): Promise<DirectWriter> {
    return new DirectWriter(handle, await DirectFile.open(path, 'write'))
  }

  /** Whether all but the last partial page of a file of `size` bytes bypassed the page cache. */
  isUnbuffered(size: number): boolean {
    return size - this.#unbufferedBytes < ALIGNMENT
  }

  /** Writes all bytes. They are in memory of `alignedSharedMemory` and start at a page boundary, as does `position`. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    let written = 0
    if (this.#direct !== undefined) {
      const whole = bytes.subarray(0, bytes.length - (bytes.length % ALIGNMENT))
      written = await this.#writeDirectly(this.#direct, whole, position)
    }
    // Afterwards: a page must not be dirty in the page cache and written with O_DIRECT at the same time.
    if (written < bytes.length) await writeAll(this.#handle, bytes.subarray(written), position + written)
  }

  /** No write may be in progress. */
  [Symbol.dispose](): void {
    this.#direct?.[Symbol.dispose]()
    this.#direct = undefined
  }

  /** Resolves to the number of bytes written. */
  async #writeDirectly(direct: DirectFile, bytes: Uint8Array, position: number): Promise<number> {
    if (bytes.length === 0) return 0
    try {
      const bytesWritten = await direct.write(bytes, position)
      const whole = bytesWritten - (bytesWritten % ALIGNMENT)
      this.#unbufferedBytes += whole
      return whole
    } catch (error) {
      // The disk requires a larger alignment.
      if (codeOf(error) === 'EINVAL') return 0
      throw error
    }
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await handle.write(bytes, at, bytes.length - at, position + at)).bytesWritten
  }
}
