import { fail } from '../../../base/errors.ts'
import type { Dirent } from '../../../base/objects/index.ts'
import { joinPath, type LibraryPath, parsePath, toNfc } from '../../../base/paths/index.ts'
import { json } from '../../../base/schemas/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { accepting, type Reader, required, type Values } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { requiredPath } from '../common/readers.ts'
import { startCopy, startMove } from './async-batch-v21.ts'
import { batchParameters, task } from './batch.schema.ts'
import { openSent } from './batch-selection.ts'
import { openDestination } from './destination.ts'
import { type BatchServices, route } from './services.ts'

/** Maximum length of a destination path, in characters. */
export const MAX_DESTINATION_LENGTH = 4096

const taskBody = {
  src_repo_id: required(),
  src_parent_dir: requiredPath(),
  src_dirent_name: required(),
  dst_repo_id: required(),
  dst_parent_dir: requiredPath(),
  operation: word(['move', 'copy'], "operation can only be 'move' or 'copy'."),
  // Existing clients expect "operation" in this message.
  dirent_type: word(['file', 'dir'], "operation can only be 'file' or 'dir'."),
}

type TaskBody = Values<typeof taskBody>

export const copyMoveTaskRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/copy-move-task/',
    auth: 'user',
    summary: 'Copies or moves one file or folder; across libraries as a background task. Deprecated.',
    compatibility: 'supported',
    body: taskBody,
    responses: () => ({ 200: json(task, 'The task.') }),
    details: () => ({
      deprecated: true,
      errors: [409, 443],
      parameters: { ...batchParameters, src_dirent_name: { description: 'The name in the source folder.' } },
    }),
    async handle({ user, body }, services) {
      refuseImpossible(body)
      return { task_id: await start(services, user, body) }
    },
  }),
]

/** Checks that need only the paths. */
function refuseImpossible(body: TaskBody): void {
  const { src_dirent_name: name, src_parent_dir: parent, dst_parent_dir: folder } = body
  const from = parsePath(`${parent.text}/${name}`)
  const to = parsePath(`${folder.text}/${name}`)
  const length = to?.length ?? folder.text.length + 1 + name.length
  if (length > MAX_DESTINATION_LENGTH) throw errorMessage(400, 'Destination path is too long.')
  if (from === undefined || to === undefined || body.src_repo_id !== body.dst_repo_id) return
  if (body.operation === 'move' && from === to) throw errorMessage(400, 'Invalid destination path')
  if (body.dirent_type === 'dir' && to !== from && to.startsWith(`${from}/`)) {
    fail({ code: 'into-itself', source: from, destination: folder.path ?? folder.text })
  }
}

async function start(services: BatchServices, user: Account, body: TaskBody): Promise<string> {
  const source = await openSent(services, user, body.src_repo_id)
  const { parent, entry } = await findSource(source, body)
  const destination = await openDestination(services, user, body.dst_repo_id, body.dst_parent_dir)
  const target = destination.library.editable(destination.path)
  const selection = { parent, names: [body.src_dirent_name] }
  const copies = body.operation === 'copy'
  if (copies || source.info.ownerKey !== target.info.ownerKey) {
    await refuseOverQuota(services, source, entry, target)
  }
  const batch = { selection, target, folder: destination.path }
  return copies
    ? startCopy(services, { ...batch, source })
    : startMove(services, { ...batch, source: source.editable(parent) })
}

/** Throws path-not-found, also for an entry of the other kind. */
async function findSource(library: Library, body: TaskBody): Promise<{ parent: LibraryPath; entry: Dirent }> {
  const parent = body.src_parent_dir.path
  const name = toNfc(body.src_dirent_name)
  const found = parent && !name.includes('/') ? await library.tree.find(joinPath(parent, name)) : undefined
  if (parent !== undefined && found?.kind === body.dirent_type) return { parent, entry: found }
  const path = `${body.src_parent_dir.text.replace(/\/+$/, '')}/${body.src_dirent_name}`
  return fail({ code: 'path-not-found', path, wanted: body.dirent_type === 'file' ? 'File' : 'Folder' })
}

// Checked here too, because a task would report it only later.
async function refuseOverQuota(
  { quotas }: BatchServices,
  source: Library,
  entry: Dirent,
  target: Library,
): Promise<void> {
  const room = await quotas.roomLeft(target.info)
  if (room === undefined) return
  const { size } = await source.content.totalsOf(entry)
  if (size >= room.left) fail({ code: 'quota-exceeded', limit: room.limit })
}

/** One of two values. Rejects a missing value with "<name> invalid.", an unknown one with `message`. */
function word<const T extends string>(words: readonly T[], message: string): Reader<T> {
  return accepting({ type: 'string', enum: words, required: true }, (fields, name) => {
    const sent = required()(fields, name)
    const found = words.find((one) => one === sent)
    if (found === undefined) throw errorMessage(400, message)
    return found
  })
}
