import { fail } from '../../base/errors.ts'
import { baseName, type LibraryPath, parentOf, parseName, parsePath } from '../../base/paths/index.ts'
import { json, kinds } from '../../base/schemas/index.ts'
import { commitMessages } from '../../libraries/commits/index.ts'
import type { Content } from '../../libraries/content/index.ts'
import { addFiles, type Placed, replaceFile } from '../../libraries/edits/index.ts'
import { deleteUncommitted } from '../../libraries/push/index.ts'
import type { HttpRequest, RequestBody } from '../../platform/http/index.ts'
import { type Fields, rawText } from '../../platform/input/index.ts'
import { jsonTextResponse } from '../../platform/responses/index.ts'
import type { TicketUse } from '../../sharing/access/index.ts'
import { guestOf } from '../../sharing/quotas/index.ts'
import { type BlockFile, readBlockFile, readFields } from './blocks-form.ts'
import { route, type TransferServices } from './services.ts'
import { blockFields, commitQuery, rawId, uploadErrors } from './transfer.schema.ts'
import { parseLastModify } from './upload-form.ts'
import { uploadError } from './upload-wire.ts'

export const blockCommitRoutes = [
  route({
    method: 'POST',
    path: '/seafhttp/upload-blks-api/:ticket',
    auth: 'none',
    summary: 'Creates a file from uploaded blocks.',
    params: { ticket: rawText() },
    body: 'raw',
    responses: () => ({
      200: [
        json(kinds.record('CommittedFile', { id: kinds.objectId }), 'With `ret-json`, the new file.'),
        json(kinds.objectId, 'The id of the new file.'),
      ],
    }),
    details: () => ({
      errors: uploadErrors,
      query: commitQuery,
      body: kinds.object({
        parent_dir: kinds.text('The target folder: that of the link.'),
        file_name: kinds.text('The name of the file.'),
        replace: kinds.optional(kinds.text('`1` replaces a file of the same name.')),
        ...blockFields,
      }),
    }),
    async handle({ params, request, body }, services) {
      const use = await present(services, params.ticket ?? '', 'upload-blocks')
      const fields = await readCommit(request, body)
      const { id } = (await addFile(services, use, fields)).entry
      return request.queryFields.has('ret-json') ? { id } : id
    },
  }),
  route({
    method: 'POST',
    path: '/seafhttp/update-blks-api/:ticket',
    auth: 'none',
    summary: 'Replaces the content of a file with uploaded blocks.',
    params: { ticket: rawText() },
    body: 'raw',
    responses: () => ({ 200: rawId }),
    details: () => ({
      errors: uploadErrors,
      query: commitQuery,
      body: kinds.object({ target_file: kinds.text('The path of the file to replace.'), ...blockFields }),
    }),
    async handle({ params, request, body }, services) {
      const use = await present(services, params.ticket ?? '', 'update-blocks')
      const fields = await readCommit(request, body)
      // Not valid JSON, but labelled so, as existing clients expect.
      return jsonTextResponse((await updateFile(services, use, fields)).entry.id)
    },
  }),
]

async function present(
  { tickets }: TransferServices,
  ticket: string,
  operation: 'upload-blocks' | 'update-blocks',
): Promise<TicketUse> {
  const use = await tickets.present(ticket)
  if (use.operation !== operation) throw uploadError(403, 'Operation does not match access token.')
  if (use.library.info.status === 'read-only') throw uploadError(403, 'Repo status not writable.')
  return use
}

async function readCommit(request: HttpRequest, body: RequestBody): Promise<Fields> {
  if (!request.queryFields.has('commitonly')) throw uploadError(400, 'Only commit suppported.')
  return readFields(request, body)
}

/** Checks in the order clients rely on: form, folder, permission, name, blocks, size, quota. */
async function addFile(services: TransferServices, use: TicketUse, fields: Fields): Promise<Placed> {
  const { library } = use
  const parentText = fields.text('parent_dir')?.replaceAll('\\', '/')
  const name = fields.text('file_name')
  if (!parentText || !name) throw uploadError(400, 'No parent dir or file name.')
  const file = readBlockFile(fields)
  const replace = readReplace(fields)
  const parent = parsePath(parentText)
  if (parent === undefined || (await library.tree.findDir(parent)) === undefined) {
    return fail({ code: 'path-not-found', path: parentText, wanted: 'Folder' })
  }
  if (parent !== use.path) fail({ code: 'permission-denied' })
  library.editable(parent)
  const newName = parseName(name) ?? fail({ code: 'name-invalid', name })
  const mtime = parseLastModify(fields.text('last_modify'))
  return withContent(services, use, file, async (content, also) => {
    const options = { replace, describe: commitMessages.added, also }
    const files = [{ name: newName, content, mtime }]
    const editable = (await use.reopen()).editable(parent)
    const { result } = await addFiles(services.core, editable, parent, files, options)
    const [placed] = result
    if (placed === undefined) throw new Error('a file was added and is not there')
    return placed
  })
}

async function updateFile(services: TransferServices, use: TicketUse, fields: Fields): Promise<Placed> {
  const path = targetOf(fields)
  const file = readBlockFile(fields)
  const { library } = use
  await library.tree.getDir(parentOf(path))
  await library.tree.getFile(path)
  library.editable(parentOf(path))
  await use.bind(path)
  const mtime = parseLastModify(fields.text('last_modify'))
  return withContent(services, use, file, async (content, also) => {
    const editable = (await use.reopen()).editable(parentOf(path))
    const { result } = await replaceFile(services.core, editable, path, content, { mtime, also })
    return result
  })
}

type Hook = NonNullable<Parameters<typeof replaceFile>[4]>['also']

/** Commits a file made of blocks, while its size is reserved from the quota. */
async function withContent(
  { push, quotas }: TransferServices,
  { library, isOfLink }: TicketUse,
  { ids, size }: BlockFile,
  commit: (content: Content, also: Hook) => Promise<Placed>,
): Promise<Placed> {
  const content = await push.contentOfBlocks(library, ids, size)
  await using reservation = await quotas.reserve(library.info, size, { guest: guestOf(library, isOfLink) })
  return await commit(content, async (tx) => {
    await deleteUncommitted(tx, library.info.key, ids)
    await reservation.settle(tx)
  })
}

function targetOf(fields: Fields): LibraryPath {
  const sent = fields.text('target_file')
  if (!sent) throw uploadError(400, 'No target file.')
  const path = parsePath(sent)
  if (path === undefined) throw uploadError(440, 'Invalid filename.')
  if (baseName(path) === '') throw uploadError(400, 'Invalid targe_file.')
  return path
}

function readReplace(fields: Fields): boolean {
  const sent = fields.text('replace') ?? '0'
  if (sent !== '' && sent !== '0' && sent !== '1') throw uploadError(400, 'Invalid argument replace.')
  return sent === '1'
}
