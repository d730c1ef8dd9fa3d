import type { LibraryPath } from '../../base/paths/index.ts'
import type { Content } from '../../libraries/content/index.ts'
import type { Ready } from '../../libraries/library/index.ts'
import { inOrigin } from '../../libraries/registry/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { STREAM_BYTES } from '../../platform/http/index.ts'
import type { StreamedPart } from '../../platform/input/index.ts'
import type { UploadKey } from '../../sharing/quotas/index.ts'
import type { ReceivedChunk, WholeFile } from './resumable.ts'
import type { TransferServices } from './services.ts'
import { AnnouncedDigest } from './upload-digest.ts'
import { type ChunkRange, invalidRange } from './upload-range.ts'
import type { UploadSession } from './upload-session.ts'

/** How a received file is committed. */
export interface CommitOptions {
  readonly ready?: Ready | undefined
  /** Ends the resumable upload, in the transaction of the commit. */
  readonly settle?: WholeFile['settle']
}

/**
 * Receives one chunk of a resumable upload. `path` is that of its file, as far as the form says so yet. Throws a refusal unless its length equals
 * its range.
 */
export async function receiveChunk(
  { partialUploads }: TransferServices,
  session: UploadSession,
  range: ChunkRange,
  part: StreamedPart,
  path: LibraryPath | undefined,
): Promise<ReceivedChunk> {
  const length = range.end - range.start
  const digest = AnnouncedDigest.read(part.headers.get('content-digest'))
  await session.request.bodyClaim.growTo(STREAM_BYTES)
  let received = 0
  const checked = async function* () {
    for await (const bytes of part.borrowed()) {
      received += bytes.length
      if (received > length) throw invalidRange()
      digest?.update(bytes)
      yield bytes
    }
    if (received !== length) throw invalidRange()
    digest?.check()
  }
  const key = path === undefined ? undefined : uploadKeyOf(session, path)
  return session.own(await partialUploads.receive(key, range, checked(), session.dataKey))
}

/**
 * Adds a chunk to its file. The last one calls `commit` with the whole file
 * and returns its result; any other chunk returns undefined.
 */
export function addChunk<T>(
  { partialUploads, quotas }: TransferServices,
  session: UploadSession,
  { path, range, chunk }: { path: LibraryPath; range: ChunkRange; chunk: ReceivedChunk | undefined },
  commit: (content: Content, options: CommitOptions) => Promise<T>,
): Promise<T | undefined> {
  if (chunk === undefined) throw invalidRange()
  const { dataKey, fileDigest, source, guest } = session
  const { reservationKey: reservation } = session
  const check = (tx: Transaction) => quotas.checkUnfinished(tx, source, guest, reservation)
  const refuse = (bytes: number, uploads: number) =>
    quotas.refuseUnfinished(source, guest, { reservation, bytes, uploads })
  const key = uploadKeyOf(session, path)
  return partialUploads.add(key, range, chunk, { guest, dataKey, check, refuse }, async (whole) => {
    if (fileDigest !== undefined) {
      // Blocks without a name cannot be read.
      await whole.ready()
      for await (const bytes of whole.read()) fileDigest.update(bytes)
      fileDigest.check()
    }
    return commit(whole.content, { ready: whole.ready, settle: (tx) => whole.settle(tx) })
  })
}

function uploadKeyOf({ library, source, visitor }: UploadSession, path: LibraryPath): UploadKey {
  return { ...source, visitor, path: inOrigin(library.info, path) }
}
