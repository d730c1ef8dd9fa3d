import { fail } from '../../base/errors.ts'
import { type CommitId, parseCommitId } from '../../base/objects/index.ts'
import { baseName, type LibraryPath, parentOf, parsePath } from '../../base/paths/index.ts'
import { json, kinds } from '../../base/schemas/index.ts'
import type { Content } from '../../libraries/content/index.ts'
import { replaceFile } from '../../libraries/edits/index.ts'
import type { HttpRequest, RequestBody } from '../../platform/http/index.ts'
import { rawText } from '../../platform/input/index.ts'
import { jsonTextResponse } from '../../platform/responses/index.ts'
import { route, type TransferServices } from './services.ts'
import {
  chunkHeaders,
  chunkTaken as chunkTakenDescribed,
  updateForm,
  updateQuery,
  uploadErrors,
  uploadItem as uploadItemSchema,
} from './transfer.schema.ts'
import { addChunk, type CommitOptions, receiveChunk } from './upload-chunk.ts'
import { FileReceiver, type FormTexts, parseLastModify, readForm } from './upload-form.ts'
import { UploadSession } from './upload-session.ts'
import { chunkTaken, type UploadItem, uploadError, uploadItem, uploadItemsText } from './upload-wire.ts'

const updateTexts: ReadonlySet<string> = new Set(['target_file', 'last_modify'])

export const updateFileRoutes = [
  route({
    method: 'POST',
    path: '/seafhttp/update-api/:ticket',
    auth: 'none',
    summary: 'Replaces the content of a file through a link from update-link.',
    params: { ticket: rawText() },
    body: 'raw',
    responses: () => ({ 200: [json(kinds.objectId, 'The id of the new content.'), chunkTakenDescribed] }),
    details: () => ({
      errors: uploadErrors,
      requestHeaders: chunkHeaders,
      query: updateQuery,
      multipart: updateForm,
    }),
    async handle({ params, request, body }, services) {
      const item = await update(services, request, body, params.ticket ?? '')
      return item === undefined ? chunkTaken() : jsonTextResponse(JSON.stringify(item.id))
    },
  }),
  route({
    method: 'POST',
    path: '/seafhttp/update-aj/:ticket',
    auth: 'none',
    summary: 'Replaces the content of a file from a browser.',
    params: { ticket: rawText() },
    body: 'raw',
    responses: () => ({
      200: [json(kinds.array(uploadItemSchema), 'The file with its new content.'), chunkTakenDescribed],
    }),
    details: () => ({
      errors: uploadErrors,
      requestHeaders: chunkHeaders,
      query: updateQuery,
      multipart: updateForm,
    }),
    async handle({ params, request, body }, services) {
      const item = await update(services, request, body, params.ticket ?? '')
      return item === undefined ? chunkTaken() : jsonTextResponse(uploadItemsText([item]))
    },
  }),
]

/** The file as stored; undefined for a chunk that is not the last. */
async function update(
  services: TransferServices,
  request: HttpRequest,
  body: RequestBody,
  ticket: string,
): Promise<UploadItem | undefined> {
  await using session = await UploadSession.open(services, request, body, ticket, 'update')
  const base = readBase(request)
  const { range } = session
  const receiver = new FileReceiver(services.core, session)
  let count = 0
  const { texts, files } = await readForm(session, updateTexts, async (part, known) => {
    const target = known.has('target_file') ? await findFile(session, known, 1, base) : undefined
    count += 1
    // Only one file is allowed: a second one will be rejected and is not stored.
    if (count > 1) return {}
    if (range === undefined) return { content: await receiver.receive(part) }
    // Before the chunks are stored, because only the last one is committed.
    if (target !== undefined) await session.refuseLocked(target)
    return { chunk: await receiveChunk(services, session, range, part, target) }
  })
  const path = await findFile(session, texts, files.length, base)
  session.checkBody()
  const { content, chunk } = files[0] ?? {}
  const options = { base, mtime: parseLastModify(texts.get('last_modify')) }
  // Awaited here: the session lasts until the commit is done.
  if (range !== undefined) {
    const item = await addChunk(services, session, { path, range, chunk }, (whole, more) =>
      commit(services, session, path, whole, { ...options, ...more }),
    )
    session.done()
    return item
  }
  receiver.checkDigest()
  if (content === undefined) return undefined
  const item = await commit(services, session, path, content, { ...options, ready: receiver.ready })
  session.done()
  return item
}

async function commit(
  { core }: TransferServices,
  session: UploadSession,
  path: LibraryPath,
  content: Content,
  options: CommitOptions & { base: CommitId | undefined; mtime: number | undefined },
): Promise<UploadItem> {
  const { base, mtime, ready, settle } = options
  const library = await session.editable(parentOf(path))
  const { result } = await replaceFile(core, library, path, content, {
    base,
    mtime,
    ready,
    async also(tx) {
      await session.settle(tx)
      await settle?.(tx)
    },
  })
  return uploadItem(result)
}

/**
 * The file to be replaced, to which the ticket is bound from now on. Checks in the order clients rely on: file,
 * target_file, its name, number of files, folder, file, permission, ticket. A file that is gone now may still be one of the commit it was edited from.
 */
async function findFile(
  session: UploadSession,
  texts: FormTexts,
  files: number,
  base: CommitId | undefined,
): Promise<LibraryPath> {
  const { library } = session
  if (files === 0) throw uploadError(400, 'No file uploaded.')
  const sent = texts.get('target_file')
  if (!sent) throw uploadError(400, 'No target file.')
  const path = parsePath(sent)
  if (path === undefined) throw uploadError(440, 'Invalid filename.')
  if (baseName(path) === '') throw uploadError(400, 'Invalid targe_file.')
  if (files > 1) throw uploadError(400, 'More than one file in one request.')
  if (base === undefined) {
    await library.tree.getDir(parentOf(path))
    await library.tree.getFile(path)
  }
  library.editable(parentOf(path))
  await session.bind(path)
  return path
}

function readBase(request: HttpRequest): CommitId | undefined {
  const head = request.queryFields.text('head')
  return head ? (parseCommitId(head) ?? fail({ code: 'commit-not-found', id: head })) : undefined
}
