import { fail } from '../../base/errors.ts'
import { joinPath, type LibraryPath, ROOT, seenFrom, segmentsOf } from '../../base/paths/index.ts'
import { json, kinds, plain } from '../../base/schemas/index.ts'
import type { Content } from '../../libraries/content/index.ts'
import { addFiles, addFolder, type NewFile, type Placed } from '../../libraries/edits/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import type { HttpRequest, RequestBody } from '../../platform/http/index.ts'
import { rawText, type StreamedPart } from '../../platform/input/index.ts'
import { type HttpResponse, jsonTextResponse, rawResponse } from '../../platform/responses/index.ts'
import { route, type TransferServices } from './services.ts'
import {
  browserForm,
  chunkHeaders,
  chunkTaken as chunkTakenDescribed,
  ids,
  items as itemsDescribed,
  uploadErrors,
  uploadForm,
  uploadItem as uploadItemSchema,
} from './transfer.schema.ts'
import { addChunk, type CommitOptions, receiveChunk } from './upload-chunk.ts'
import { FileReceiver, parseLastModify, readForm } from './upload-form.ts'
import { type ChunkRange, chunkFileName } from './upload-range.ts'
import { UploadSession } from './upload-session.ts'
import { checkedName, type FoundTarget, folderOf, UploadTarget, uploadTexts } from './upload-target.ts'
import { chunkTaken, idsAnswer, type UploadItem, uploadItem, uploadItemsText } from './upload-wire.ts'

export const uploadFileRoutes = [
  route({
    method: 'POST',
    path: '/seafhttp/upload-api/:ticket',
    auth: 'none',
    summary: 'Uploads files, or a chunk of one, through a link from upload-link.',
    params: { ticket: rawText() },
    body: 'raw',
    responses: () => ({
      200: [
        itemsDescribed,
        ids,
        chunkTakenDescribed,
        plain(kinds.text('The id of a task.'), 'With `need_idx_progress`, a task to poll.'),
      ],
    }),
    details: () => ({
      errors: uploadErrors,
      requestHeaders: chunkHeaders,
      multipart: uploadForm,
      query: {
        'ret-json': 'Answers with a list of the stored files.',
        need_idx_progress: '`true` answers with the id of a task.',
        replace: '`1` replaces files of the same name, unless the form says otherwise.',
      },
    }),
    async handle({ params, request, body }, services) {
      const items = await upload(services, request, body, params.ticket ?? '', true)
      if (items === undefined) return chunkTaken()
      const { queryFields } = request
      if (queryFields.text('need_idx_progress') === 'true')
        return taskAnswer(services, params.ticket ?? '', items)
      // Without a file there are no ids, and an empty body would not be JSON.
      return queryFields.raw('ret-json') === undefined && items.length > 0
        ? idsAnswer(items)
        : jsonTextResponse(uploadItemsText(items))
    },
  }),
  route({
    method: 'POST',
    path: '/seafhttp/upload-aj/:ticket',
    auth: 'none',
    summary: 'Uploads files from a browser; existing files are never replaced.',
    params: { ticket: rawText() },
    body: 'raw',
    responses: () => ({
      200: [json(kinds.array(uploadItemSchema), 'The stored files.'), chunkTakenDescribed],
    }),
    details: () => ({ errors: uploadErrors, requestHeaders: chunkHeaders, multipart: browserForm }),
    async handle({ params, request, body }, services) {
      const items = await upload(services, request, body, params.ticket ?? '', false)
      return items === undefined ? chunkTaken() : jsonTextResponse(uploadItemsText(items))
    },
  }),
]

/** The files as stored; undefined for a chunk that is not the last. */
async function upload(
  services: TransferServices,
  request: HttpRequest,
  body: RequestBody,
  ticket: string,
  mayReplace: boolean,
): Promise<UploadItem[] | undefined> {
  await using session = await UploadSession.open(services, request, body, ticket, 'upload')
  const { range } = session
  // Awaited here: the session lasts until the commit is done.
  const items =
    range === undefined
      ? await uploadFiles(services, session, mayReplace)
      : await uploadChunk(services, session, range, mayReplace)
  session.done()
  return items
}

async function uploadFiles(services: TransferServices, session: UploadSession, mayReplace: boolean) {
  const receiver = new FileReceiver(services.core, session)
  const place = new UploadTarget(session, mayReplace)
  let hasMark = false
  const { texts, files: parts } = await readForm(session, uploadTexts, async (part, known) => {
    const filename = part.filename ?? ''
    if (filename === '') {
      hasMark = true
      return refuseBytes(part)
    }
    const modified = known.get('last_modify')
    await place.refuseEarly(known, filename)
    return { filename, modified, content: await receiver.receive(part) }
  })
  const target = await place.find(texts, parts.length)
  if (hasMark && target.into === ROOT) fail({ code: 'name-invalid', name: '' })
  const files = hasMark ? parts.filter((part) => part !== undefined) : (parts as ReceivedFile[])
  const last = texts.get('last_modify')
  // The `last_modify` before a file is the time of that file, so one request can send files of different times.
  const named = files.map(({ filename, modified = last, content }) => ({
    name: checkedName(filename),
    content,
    mtime: parseLastModify(modified),
  }))
  receiver.checkDigest()
  session.checkBody()
  return hasMark && named.length === 0
    ? commitFolder(services, session, target)
    : commit(services, session, target, named, { ready: receiver.ready })
}

/** A file whose content was received. */
interface ReceivedFile {
  readonly filename: string
  readonly modified: string | undefined
  readonly content: Content
}

/**
 * A part without a file name stands for the folder of `relative_path`: some clients create folders with an empty one. Throws
 * name-invalid at the first byte, because nothing says which file it belongs to.
 */
async function refuseBytes(part: StreamedPart): Promise<undefined> {
  for await (const bytes of part.borrowed()) {
    if (bytes.length > 0) fail({ code: 'name-invalid', name: '' })
  }
  return undefined
}

async function uploadChunk(
  services: TransferServices,
  session: UploadSession,
  range: ChunkRange,
  mayReplace: boolean,
) {
  const given = chunkFileName(session.request.headers['content-disposition'])
  const place = new UploadTarget(session, mayReplace)
  let count = 0
  const { texts, files } = await readForm(session, uploadTexts, async (part, known) => {
    const filename = given ?? part.filename ?? ''
    await place.refuseEarly(known, filename)
    count += 1
    // Only one file is allowed: a second one will be rejected and is not stored.
    if (count > 1) return { filename }
    const path = place.pathOf(filename)
    // Before the chunks are stored, because only the last one is committed. A new file beside it would get another name.
    if (path !== undefined && place.replaces) await session.refuseLocked(path)
    return { filename, chunk: await receiveChunk(services, session, range, part, path) }
  })
  const target = await place.find(texts, files.length)
  const name = checkedName(files[0]?.filename ?? '')
  const mtime = parseLastModify(texts.get('last_modify'))
  session.checkBody()
  const path = joinPath(folderOf(target.parent, target.into), name)
  return addChunk(services, session, { path, range, chunk: files[0]?.chunk }, (content, options) =>
    commit(services, session, target, [{ name, content, mtime }], options),
  )
}

async function commit(
  { core, onLinkUpload }: TransferServices,
  session: UploadSession,
  { parent, into, replace, keepSame }: FoundTarget,
  files: readonly NewFile[],
  { ready, settle }: CommitOptions,
): Promise<UploadItem[]> {
  const library = await session.editable(parent)
  const { result } = await addFiles(core, library, parent, files, {
    into,
    replace,
    // Visitors of a link must not learn which files exist.
    keepSame: keepSame && !session.isOfLink,
    ready,
    async also(tx, placed) {
      await session.settle(tx)
      await settle?.(tx)
      if (!session.isOfLink) return
      const items = uploadedItems(arrivalOf(session, parent), placed)
      await onLinkUpload(tx, linkUpload(session, library, items))
    },
  })
  const items = result.map(uploadItem)
  // Link visitors must not learn which names exist.
  return session.isOfLink ? items.map((item, at) => ({ ...item, name: files[at]?.name ?? item.name })) : items
}

/** Creates the folder of an upload without files. No file is reported. */
async function commitFolder(
  { onLinkUpload }: TransferServices,
  session: UploadSession,
  { parent, into }: FoundTarget,
): Promise<UploadItem[]> {
  const library = await session.editable(parent)
  await addFolder(library, parent, into, async (tx, folder) => {
    await session.settle(tx)
    if (!session.isOfLink) return
    const arrival = arrivalOf(session, parent)
    const [first] = segmentsOf(seenFrom(arrival, folder) ?? ROOT)
    const items = first === undefined ? [] : [{ path: joinPath(arrival, first), isDir: true }]
    await onLinkUpload(tx, linkUpload(session, library, items))
  })
  return []
}

/** Where the files of a visitor arrive: in the folder of the link, or in the one that belongs to them. */
function arrivalOf({ sender }: UploadSession, parent: LibraryPath): LibraryPath {
  return folderOf(parent, sender?.folder ?? ROOT)
}

function linkUpload({ sender }: UploadSession, { actor, info }: Library, items: readonly UploadedItem[]) {
  return { makerKey: actor.key, library: info, sender, items }
}

interface UploadedItem {
  readonly path: LibraryPath
  readonly isDir: boolean
}

/** The uploaded top-level entries: files, or the folder that contains them. */
function uploadedItems(arrival: LibraryPath, placed: readonly Placed[]): readonly UploadedItem[] {
  const [folder, ...deeper] = segmentsOf(seenFrom(arrival, placed[0]?.path ?? arrival) ?? ROOT)
  if (folder !== undefined && deeper.length > 0) return [{ path: joinPath(arrival, folder), isDir: true }]
  return placed.map(({ path }) => ({ path, isDir: false }))
}

async function taskAnswer(
  { indexedUploads }: TransferServices,
  ticket: string,
  items: readonly UploadItem[],
): Promise<HttpResponse> {
  const body = await indexedUploads.add(ticket, items)
  return rawResponse({ headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body })
}
