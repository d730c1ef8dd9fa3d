import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { ChunkBuffers } from './chunk-buffers.ts'
import { codeOf } from './disk-errors.ts'
import { type ReadAt, readerOf } from './file-chunks.ts'

/** What addresses, places and lengths of transfers past the page cache are multiples of, on any disk of today. */
export const ALIGNMENT = 4096

/** Opens a file to be read or written past the page cache; undefined where the system or the file system knows no such thing. */
export async function openDirect(path: string, access: 'read' | 'write'): Promise<FileHandle | undefined> {
  const { O_DIRECT, O_RDONLY, O_WRONLY } = constants as Partial<typeof constants>
  if (O_DIRECT === undefined || O_RDONLY === undefined || O_WRONLY === undefined) return undefined
  return open(path, O_DIRECT | (access === 'read' ? O_RDONLY : O_WRONLY)).catch(() => undefined)
}

/** Reads past the page cache what goes into memory of `buffers` that begins a page, and all else as `otherwise` does. */
export function directReaderOf(fd: number, buffers: ChunkBuffers, otherwise: ReadAt): ReadAt {
  const readAt = readerOf(fd)
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
