import { type FileHandle, open } from 'node:fs/promises'
import { fail } from '../errors.ts'
import { rawText, respondWith, type Span, TextRefusal } from '../http/index.ts'
import type { FinishedArchive } from './archive-task.ts'
import { disposition } from './disposition.ts'
import { route } from './services.ts'

const CHUNK_BYTES = 1024 * 1024

export const archiveDownloadRoutes = [
  route({
    method: 'GET',
    path: '/seafhttp/zip/:ticket',
    auth: 'none',
    summary: 'Sends a finished archive, with ranges, any number of times while its token is valid.',
    params: { ticket: rawText() },
    async handle({ params: { ticket = '' }, request }, { archives, tickets }) {
      const use = await tickets.present(ticket)
      if (use.operation !== 'archive') throw new TextRefusal(403, 'Operation does not match access token.')
      const task = (await archives.find(ticket)) ?? fail({ code: 'ticket-not-found' })
      const archive = task.finished
      if (archive === undefined) throw new TextRefusal(400, 'Zip task is not finished')
      task.isFetched ||= request.method === 'GET'
      return respondWith(request, {
        size: archive.size,
        contentType: 'application/zip',
        etag: archive.id,
        lastModified: archive.finishedAt,
        headers: {
          'Content-Disposition': disposition('attachment', archive.name),
          'Cache-Control': 'private, no-cache',
          'Access-Control-Allow-Origin': '*',
        },
        read: (span) => readSpan(archive, span),
      })
    },
  }),
  route({
    method: 'GET',
    path: '/seafhttp/zip/',
    auth: 'none',
    summary: 'Rejects an archive link without its token.',
    handle() {
      throw new TextRefusal(400, 'Invalid URL')
    },
  }),
]

/**
 * Part of an archive, read with a prefetch of one chunk. A chunk's buffer is reused once the next chunk is requested.
 * An archive deleted meanwhile can still be read to its end.
 */
async function* readSpan(
  { path, cover }: FinishedArchive,
  { start, end }: Span,
): AsyncGenerator<Buffer, void> {
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
