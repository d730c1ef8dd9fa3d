import { type FileHandle, open } from 'node:fs/promises'
import { fail } from '../../base/errors.ts'
import { archiveBlockRows, type TempFileCipher } from '../../libraries/content/index.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Span } from '../../platform/representations/index.ts'

const CHUNK_BYTES = 1024 * 1024

/** The bytes of part of an archive, decrypted. */
export type ReadArchive = (span: Span) => AsyncGenerator<Buffer, void>

/** Reads an archive from its blocks. An archive deleted meanwhile can still be read to its end. */
export function readBlocks(
  { core, db }: { readonly core: LibraryCore; readonly db: Database },
  archiveKey: number,
  cover: TempFileCipher | undefined,
): ReadArchive {
  return async function* read(span) {
    // Garbage collection deletes no bytes that a running operation may read.
    using _operation = core.operations.begin()
    const blocks = await archiveBlockRows.list(db, archiveKey, span)
    let position = span.start
    for await (const bytes of core.incoming.readStaged(blocks, span, new Map(), undefined)) {
      yield cover?.apply(bytes, position) ?? bytes
      position += bytes.length
    }
    if (position < span.end) fail({ code: 'ticket-not-found' })
  }
}

/**
 * Reads an archive from a file, with a prefetch of one chunk. A chunk's buffer is reused once the next chunk is requested.
 * An archive deleted meanwhile can still be read to its end.
 */
export function readFile(path: string, cover: TempFileCipher | undefined): ReadArchive {
  return async function* read({ start, end }) {
    const handle = await openArchive(path)
    const buffers: Buffer[] = []
    let turn = 0
    let position = start
    const readNext = () => {
      turn = 1 - turn
      const buffer = (buffers[turn] ??= Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - position)))
      const next = readChunk(handle, position, buffer.subarray(0, end - position))
      next.catch(() => {}) // Handled where it is awaited; on an early end nobody awaits it.
      return next
    }
    let ahead = readNext()
    try {
      while (position < end) {
        const chunk = await ahead
        const bytes = cover?.apply(chunk, position) ?? chunk
        position += chunk.length
        if (position < end) ahead = readNext()
        yield bytes
      }
    } finally {
      await ahead.catch(() => {})
      await handle.close()
    }
  }
}

/** Throws ticket-not-found for an archive that expired after it was looked up. */
async function openArchive(path: string): Promise<FileHandle> {
  return open(path).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? fail({ code: 'ticket-not-found' }) : Promise.reject(error),
  )
}

async function readChunk(handle: FileHandle, position: number, buffer: Buffer): Promise<Buffer> {
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
  if (bytesRead === 0) throw new Error('An archive was cut short.')
  return buffer.subarray(0, bytesRead)
}
