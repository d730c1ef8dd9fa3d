import type { FileHandle } from 'node:fs/promises'
import { ALIGNMENT, DirectFile } from './direct-files.ts'
import { codeOf } from './disk-errors.ts'

/**
 * A long file on its way to the disk, written past the page cache where the file system lets us: copying each byte once
 * more would cost a long upload a third of its processor time. Elsewhere it is written as any other file.
 */
export class SlabFile implements Disposable {
  readonly #handle: FileHandle
  #direct: DirectFile | undefined
  #bytesPastCache = 0

  private constructor(handle: FileHandle, direct: DirectFile | undefined) {
    this.#handle = handle
    this.#direct = direct
  }

  /** `handle` is of the file at `path`, and stays the caller's. */
  static async open(handle: FileHandle, path: string): Promise<SlabFile> {
    return new SlabFile(handle, await DirectFile.open(path, 'write'))
  }

  /** Whether all but the end of it was written past the page cache. */
  isPastCache(size: number): boolean {
    return size - this.#bytesPastCache < ALIGNMENT
  }

  /** Writes all bytes, from memory of `alignedSharedMemory`; `position` begins a page, as does the first byte there. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    let written = 0
    if (this.#direct !== undefined) {
      const whole = bytes.subarray(0, bytes.length - (bytes.length % ALIGNMENT))
      written = await this.#writeDirectly(this.#direct, whole, position)
    }
    // Only then: a page must not be in the cache and on its way to the disk at the same time.
    if (written < bytes.length) await writeAll(this.#handle, bytes.subarray(written), position + written)
  }

  /** Nothing must be under way. */
  [Symbol.dispose](): void {
    this.#direct?.[Symbol.dispose]()
    this.#direct = undefined
  }

  /** How many bytes were taken. */
  async #writeDirectly(direct: DirectFile, bytes: Uint8Array, position: number): Promise<number> {
    if (bytes.length === 0) return 0
    try {
      const bytesWritten = await direct.write(bytes, position)
      const taken = bytesWritten - (bytesWritten % ALIGNMENT)
      this.#bytesPastCache += taken
      return taken
    } catch (error) {
      // The disk wants something else than what is common.
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
