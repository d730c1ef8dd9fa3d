import { DomainError } from '../../../base/errors.ts'
import { baseName, type LibraryPath, parentOf, parsePath } from '../../../base/paths/index.ts'
import { TimeSlicer } from '../../../base/scheduling/index.ts'
import { json } from '../../../base/schemas/index.ts'
import { copy, move, type Placed, type RoomLeft } from '../../../libraries/edits/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { map, rawValue, required, type Values } from '../../../platform/input/index.ts'
import { BATCH_BODY_BYTES, type SentPath } from '../common/readers.ts'
import { folderPathText } from '../common/resolve-path.ts'
import { pathsParameters, results } from './batch.schema.ts'
import { openSent } from './batch-selection.ts'
import { MAX_DESTINATION_LENGTH } from './copy-move-task-v21.ts'
import { type BatchServices, route } from './services.ts'

interface Item {
  readonly source: SentPath
  readonly folder: SentPath
}

const pathsBody = {
  paths: map(rawValue(), parseItems),
  src_repo_id: required(),
  dst_repo_id: required(),
}

export const batchPathsRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/batch-copy-item/',
    auth: 'user',
    summary: 'Copies files and folders, each to its own destination. Deprecated.',
    compatibility: 'supported',
    body: pathsBody,
    bodyLimit: BATCH_BODY_BYTES,
    responses: () => ({ 200: json(results, 'The result of each item.') }),
    details: () => ({ deprecated: true, parameters: pathsParameters }),
    handle: ({ user, body }, services) => placeAll(services, user, body, copyOne),
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/batch-move-item/',
    auth: 'user',
    summary: 'Moves files and folders, each to its own destination. Deprecated.',
    compatibility: 'supported',
    body: pathsBody,
    bodyLimit: BATCH_BODY_BYTES,
    responses: () => ({ 200: json(results, 'The result of each item.') }),
    details: () => ({ deprecated: true, parameters: pathsParameters }),
    handle: ({ user, body }, services) => placeAll(services, user, body, moveOne),
  }),
]

/** Reopened libraries: earlier items of the same call may have changed them. */
interface Step {
  readonly source: Library
  readonly path: LibraryPath
  readonly target: Library
  readonly folder: LibraryPath
}

type PlaceOne = (services: BatchServices, step: Step, roomLeft: RoomLeft) => Promise<Placed[]>

function copyOne({ core }: BatchServices, { source, path, target, folder }: Step, roomLeft: RoomLeft) {
  const selection = { parent: parentOf(path), names: [baseName(path)] }
  return copy(core, source, selection, target.editable(folder), folder, roomLeft)
}

function moveOne({ core }: BatchServices, { source, path, target, folder }: Step, roomLeft: RoomLeft) {
  const selection = { parent: parentOf(path), names: [baseName(path)] }
  return move(core, source.editable(selection.parent), selection, target.editable(folder), folder, roomLeft)
}

/** Processes the items one by one and returns the result of each. */
async function placeAll(
  services: BatchServices,
  user: Account,
  body: Values<typeof pathsBody>,
  placeOne: PlaceOne,
) {
  const open = async () => ({
    source: await openSent(services, user, body.src_repo_id),
    target: await openSent(services, user, body.dst_repo_id),
  })
  await open()
  const roomLeft = services.quotas.roomLeft.bind(services.quotas)
  const failed: object[] = []
  const success: object[] = []
  const slicer = new TimeSlicer()
  for (const item of body.paths) {
    const shown = {
      src_repo_id: body.src_repo_id,
      dst_repo_id: body.dst_repo_id,
      src_path: folderPathText(item.source),
      dst_path: folderPathText(item.folder),
    }
    const result = await orFault(async () => {
      const step = await findStep(await open(), item)
      return typeof step === 'string' ? step : only(await placeOne(services, step, roomLeft))
    })
    if (slicer.isDue) await slicer.rest()
    if (typeof result === 'string') failed.push({ ...shown, error_msg: result })
    else success.push({ ...shown, dst_obj_name: result.entry.name })
  }
  return { failed, success }
}

/** The validated item, or the error message. */
async function findStep(
  { source, target }: { source: Library; target: Library },
  item: Item,
): Promise<Step | string> {
  const [from, to] = [folderPathText(item.source), folderPathText(item.folder)]
  if (source.info.id === target.info.id && to.startsWith(from)) {
    return "The destination directory is the same as the source, or is it's subfolder."
  }
  if (from === '/') return "The source path can not be '/'."
  const name = from.slice(from.lastIndexOf('/', from.length - 2) + 1, -1)
  // Existing clients expect the stray quote.
  if (to.length + name.length > MAX_DESTINATION_LENGTH) return "'Destination path is too long."
  const path = item.source.path
  if (path === undefined || (await source.tree.find(path)) === undefined) return `${from} not found.`
  const folder = item.folder.path
  if (folder === undefined || (await target.tree.findDir(folder)) === undefined) {
    return `Folder ${to} not found.`
  }
  return { source, path, target, folder }
}

/** The result, or the message of a fault. */
async function orFault<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return error.fault.code === 'permission-denied' ? 'Permission denied.' : 'Internal Server Error'
  }
}

function only([placed]: readonly Placed[]): Placed {
  if (placed === undefined) throw new Error('one entry was asked for and none was placed')
  return placed
}

function parseItems(sent: unknown): Item[] | undefined {
  if (!Array.isArray(sent) || sent.length === 0) return undefined
  const items = sent.map(parseItem)
  return items.every((item) => item !== undefined) ? items : undefined
}

function parseItem(sent: unknown): Item | undefined {
  if (typeof sent !== 'object' || sent === null) return undefined
  const { src_path, dst_path } = sent as Record<string, unknown>
  if (typeof src_path !== 'string' || typeof dst_path !== 'string') return undefined
  return { source: toSentPath(src_path), folder: toSentPath(dst_path) }
}

function toSentPath(text: string): SentPath {
  return { text, path: parsePath(text) }
}
