import { inOrigin } from '../commits/index.ts'
import type { Content } from '../content/index.ts'
import type { Transaction } from '../database/index.ts'
import type { StreamedPart } from '../http/index.ts'
import type { LibraryPath } from '../objects/index.ts'
import type { WholeFile } from './resumable.ts'
import type { ChunkFile } from './resumable-files.ts'
import type { TransferServices } from './services.ts'
import { AnnouncedDigest } from './upload-digest.ts'
import { type ChunkRange, invalidRange } from './upload-range.ts'
import type { UploadSession } from './upload-session.ts'

/** Receives one chunk of a resumable upload. Throws a refusal unless its length equals its range. */
export async function receiveChunk(
  { partialUploads }: TransferServices,
  session: UploadSession,
  range: ChunkRange,
  part: StreamedPart,
): Promise<ChunkFile> {
  const length = range.end - range.start
  const digest = AnnouncedDigest.read(part.headers.get('content-digest'))
  const chunk = session.own(await partialUploads.newChunk(session.dataKey))
  let received = 0
  const checked = async function* () {
    for await (const bytes of part.content) {
      received += bytes.length
      if (received > length) throw invalidRange()
      digest?.update(bytes)
      yield bytes
    }
  }
  await chunk.append(checked())
  if (received !== length) throw invalidRange()
  digest?.check()
  return chunk
}

/**
 * Appends a chunk to its file. The last one calls `commit` with the whole file
 * and returns its result; any other chunk returns undefined.
 */
export function addChunk<T>(
  { core, partialUploads, quotas }: TransferServices,
  session: UploadSession,
  { path, range, chunk }: { path: LibraryPath; range: ChunkRange; chunk: ChunkFile | undefined },
  commit: (content: Content, settle: WholeFile['settle']) => Promise<T>,
): Promise<T | undefined> {
  if (chunk === undefined) throw invalidRange()
  const { dataKey, fileDigest, library, source, guest, visitor } = session
  const key = { ...source, visitor, path: inOrigin(library.info, path) }
  const check = (tx: Transaction) => quotas.checkUnfinished(tx, source, guest, session.reservationKey)
  return partialUploads.add(key, range, chunk, { guest, check }, async (whole) => {
    const onBytes = (bytes: Buffer) => fileDigest?.update(bytes)
    const content = await core.content.receive(whole.content, { key: dataKey, onBytes })
    fileDigest?.check()
    return commit(content, (tx) => whole.settle(tx))
  })
}
