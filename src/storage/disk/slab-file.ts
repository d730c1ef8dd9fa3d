import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { codeOf } from './disk-errors.ts'

/** What addresses and lengths of writes past the page cache are multiples of, on any disk of today. */
const ALIGNMENT = 4096

/**
 * A long file on its way to the disk, written past the page cache where the file system lets us: copying each byte once
 * more would cost a long upload a third of its processor time. Elsewhere it is written as any other file.
 */
export class SlabFile implements AsyncDisposable {
  readonly #handle: FileHandle
  #direct: FileHandle | undefined

  private constructor(handle: FileHandle, direct: FileHandle | undefined) {
    this.#handle = handle
    this.#direct = direct
  }

  /** `handle` is of the file at `path`, and stays the caller's. */
  static async open(handle: FileHandle, path: string): Promise<SlabFile> {
    return new SlabFile(handle, await openDirect(path))
  }

  /** Writes all bytes, from memory of `alignedMemory`; `position` begins a page, as does the first byte there. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    let written = 0
    if (this.#direct !== undefined) {
      const whole = bytes.subarray(0, bytes.length - (bytes.length % ALIGNMENT))
      written = await this.#writeDirectly(this.#direct, whole, position)
    }
    // Only then: a page must not be in the cache and on its way to the disk at the same time.
    if (written < bytes.length) await writeAll(this.#handle, bytes.subarray(written), position + written)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const direct = this.#direct
    this.#direct = undefined
    await direct?.close()
  }

  /** How many bytes were taken. */
  async #writeDirectly(direct: FileHandle, bytes: Uint8Array, position: number): Promise<number> {
    if (bytes.length === 0) return 0
    try {
      const { bytesWritten } = await direct.write(bytes, 0, bytes.length, position)
      return bytesWritten - (bytesWritten % ALIGNMENT)
    } catch (error) {
      // The disk wants something else than what is common.
      if (codeOf(error) === 'EINVAL') return 0
      throw error
    }
  }
}

/** Undefined where the system or the file system knows no such thing. */
async function openDirect(path: string): Promise<FileHandle | undefined> {
  const { O_DIRECT, O_WRONLY } = constants as Partial<typeof constants>
  if (O_DIRECT === undefined || O_WRONLY === undefined) return undefined
  return open(path, O_WRONLY | O_DIRECT).catch(() => undefined)
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await handle.write(bytes, at, bytes.length - at, position + at)).bytesWritten
  }
}
