import { isStorableName, joinPath, type LibraryPath, toNfc } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { copy, move, type Placed, remove, type Selection } from '../../../libraries/edits/index.ts'
import { type EditableLibrary, fileLocks, type Library } from '../../../libraries/library/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import type { FaultResponse, FaultResponses, Input } from '../../../platform/http/index.ts'
import { accepting, type Reader, rawText, type Values } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { deniedMessage, withFaultMessages } from '../common/fault-messages.ts'
import { BATCH_BODY_BYTES, libraryIdParam, sentPath, sentPathOrRoot } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { apiFaults, olderLibraryNotFound } from '../faults.ts'
import { reloaded } from '../folders/folder-listing.ts'
import { lenientFlag } from '../folders/listing-readers.ts'
import {
  fileopsParameters,
  placed as placedDescribed,
  reloaded as reloadedDescribed,
} from './batch.schema.ts'
import { openDestination } from './destination.ts'
import { type BatchServices, route } from './services.ts'

/** Names separated by colons. */
const joinedNames: Reader<string[]> = accepting(
  { type: 'string', description: 'Names, joined by colons.' },
  (fields, name) => {
    const sent = rawText()(fields, name)
    return sent ? sent.replace(/^:+|:+$/g, '').split(':') : []
  },
)

const params = { repo_id: libraryIdParam }
const placingQuery = { p: sentPathOrRoot, reloaddir: lenientFlag }
const placingBody = { dst_repo: rawText(), dst_dir: sentPath, file_names: joinedNames }

type PlacingInput = Input<Account, typeof params, typeof placingQuery, Values<typeof placingBody>>

export const fileopsRoutes = [
  route({
    method: 'POST',
    path: '/api2/repos/:repo_id/fileops/copy/',
    auth: 'user',
    summary: 'Copies entries of a folder to another. Deprecated.',
    compatibility: 'supported',
    params,
    query: placingQuery,
    body: placingBody,
    bodyLimit: BATCH_BODY_BYTES,
    faults: failing('Failed to copy file.'),
    responses: () => ({ 200: [json(kinds.array(placedDescribed), 'The copies.'), reloadedDescribed] }),
    details: () => ({ deprecated: true, errors: [443, 520], parameters: fileopsParameters }),
    handle: (input, services) => handlePlacing(services, input, copying),
  }),
  route({
    method: 'POST',
    path: '/api2/repos/:repo_id/fileops/move/',
    auth: 'user',
    summary: 'Moves entries of a folder to another, except those locked by other accounts. Deprecated.',
    compatibility: 'supported',
    params,
    query: placingQuery,
    body: placingBody,
    bodyLimit: BATCH_BODY_BYTES,
    faults: failing('Failed to move file.'),
    responses: () => ({
      200: [json(kinds.array(placedDescribed), 'The entries at their new places.'), reloadedDescribed],
    }),
    details: () => ({ deprecated: true, errors: [443, 520], parameters: fileopsParameters }),
    handle: (input, services) => handlePlacing(services, input, moving),
  }),
  route({
    method: 'POST',
    path: '/api2/repos/:repo_id/fileops/delete/',
    auth: 'user',
    summary: 'Deletes entries of a folder, except those locked by other accounts. Deprecated.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { p: '/' }, form: { file_names: 'in.txt' } },
    params,
    query: { p: sentPath, reloaddir: lenientFlag },
    body: { file_names: joinedNames },
    bodyLimit: BATCH_BODY_BYTES,
    faults: {
      ...failing('Failed to delete file.'),
      ...olderLibraryNotFound,
      ...deniedMessage('You do not have permission to delete this file.'),
      'path-not-found': () => [404, 'File or directory not found.'],
    },
    responses: () => ({ 200: [json(kinds.successWord, 'The entries are gone.'), reloadedDescribed] }),
    details: () => ({
      deprecated: true,
      errors: [520],
      parameters: { p: { required: true }, file_names: { required: true } },
    }),
    async handle({ user, params: { repo_id }, query, body }, services) {
      const { p } = query
      if (p === undefined || body.file_names.length === 0) {
        throw errorMessage(404, 'File or directory not found.')
      }
      const library = await services.access.open(user, repo_id)
      const { path } = await folderAt(library, p)
      const editable = library.editable(path)
      const names = await unlockedNames(services, editable, path, body.file_names.filter(isStorableName))
      await remove(services.core, editable, path, names)
      return query.reloaddir ? reloaded(services, await services.access.open(user, repo_id), path) : 'success'
    },
  }),
]

/** Entries to copy or move to a folder. */
interface Placing {
  readonly source: Library
  readonly selection: Selection
  readonly target: Library
  readonly folder: LibraryPath
}

/** The differences between copying and moving. */
interface Operation {
  readonly fromDenied: string
  readonly toDenied: string
  readonly sameFolder: string | undefined
  allowed(source: Library, path: LibraryPath): Library
  run(services: BatchServices, placing: Placing): Promise<Placed[]>
}

const copying: Operation = {
  fromDenied: 'You do not have permission to copy file of this folder.',
  toDenied: 'You do not have permission to copy file to destination folder.',
  sameFolder: undefined,
  allowed: (source) => source,
  run({ core, quotas }, { source, selection, target, folder }) {
    return copy(core, source, selection, target.editable(folder), folder, (library) =>
      quotas.roomLeft(library),
    )
  },
}

const moving: Operation = {
  fromDenied: 'You do not have permission to move file in this folder.',
  toDenied: 'You do not have permission to move file to destination folder.',
  sameFolder: 'The destination directory is the same as the source.',
  allowed: (source, path) => source.editable(path),
  async run(services, { source, selection, target, folder }) {
    const { parent, names } = selection
    const editable = source.editable(parent)
    const unlocked = { parent, names: await unlockedNames(services, editable, parent, names) }
    const isSameOwner = source.info.ownerKey === target.info.ownerKey
    return move(services.core, editable, unlocked, target.editable(folder), folder, async (library) =>
      isSameOwner ? undefined : services.quotas.roomLeft(library),
    )
  },
}

async function handlePlacing(services: BatchServices, input: PlacingInput, operation: Operation) {
  const { user, params, query, body } = input
  const { dst_repo, dst_dir } = body
  if (!dst_repo || dst_dir === undefined || body.file_names.length === 0) {
    throw errorMessage(400, 'Missing argument.')
  }
  if (operation.sameFolder && dst_repo === params.repo_id && dst_dir.path === query.p.path) {
    throw errorMessage(400, operation.sameFolder)
  }
  const { source, path } = await withFaultMessages(deniedMessage(operation.fromDenied), async () => {
    const library = await services.access.open(user, params.repo_id)
    return { source: library, ...(await folderAt(library, query.p)) }
  })
  const destination = await withFaultMessages(deniedMessage(operation.toDenied), () =>
    openDestination(services, user, dst_repo, dst_dir),
  )
  await withFaultMessages(deniedMessage(operation.fromDenied), () => operation.allowed(source, path))
  const placed = await withFaultMessages(deniedMessage(operation.toDenied), () =>
    operation.run(services, {
      source,
      selection: { parent: path, names: body.file_names },
      target: destination.library,
      folder: destination.path,
    }),
  )
  if (query.reloaddir) return reloaded(services, await services.access.open(user, params.repo_id), path)
  const { id } = destination.library.info
  return placed.map(({ entry }) => ({ repo_id: id, parent_dir: dst_dir.text, obj_name: entry.name }))
}

/** Names of entries that no other account has locked, at or below them. */
async function unlockedNames(
  { core }: BatchServices,
  library: EditableLibrary,
  parent: LibraryPath,
  names: readonly string[],
): Promise<string[]> {
  const pathOf = (name: string) => joinPath(parent, toNfc(name))
  const locked = await fileLocks.among(core, library, names.map(pathOf))
  return names.filter((name) => !locked.has(pathOf(name)))
}

/** The fault messages of these calls; `failed` is for faults that only the core detects. */
function failing(failed: string): FaultResponses {
  const failure = (): FaultResponse => [520, failed]
  return {
    'path-not-found': (fault) =>
      fault.wanted === 'Item' ? [400, 'file_names invalid.'] : apiFaults['path-not-found'](fault),
    'password-needed': failure,
    'source-changed': failure,
    'too-many-names': failure,
    locked: failure,
  }
}
