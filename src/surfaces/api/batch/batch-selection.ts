import { fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import { baseName, type LibraryPath } from '../../../base/paths/index.ts'
import type { Selection } from '../../../libraries/edits/index.ts'
import type { EditableLibrary, Library } from '../../../libraries/library/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import type { FaultResponses } from '../../../platform/http/index.ts'
import { list, required, type Values } from '../../../platform/input/index.ts'
import { requiredPath } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { apiFaults } from '../faults.ts'
import { openDestination } from './destination.ts'
import type { BatchServices } from './services.ts'

/** The body of the calls that copy and move several entries of a folder. */
export const batchBody = {
  src_repo_id: required(),
  src_parent_dir: requiredPath(),
  src_dirents: list({ nonEmpty: true }),
  dst_repo_id: required(),
  dst_parent_dir: requiredPath(),
}

/** Entries to copy or move, resolved and permitted. */
export interface Batch<Source extends Library = Library> {
  readonly source: Source
  readonly selection: Selection
  readonly target: EditableLibrary
  readonly folder: LibraryPath
}

export type MoveBatch = Batch<EditableLibrary>

/** Messages of batch calls contain only names. */
export const batchFaults: FaultResponses = {
  'path-not-found': (fault) =>
    fault.wanted === 'Item'
      ? [404, `${lastName(fault.path)} not found.`]
      : apiFaults['path-not-found'](fault),
  locked: ({ path }) => [403, `File ${lastName(path)} is locked.`],
}

/** Throws library-not-found, path-not-found for a folder, permission-denied: source first. */
export async function openCopyBatch(
  services: BatchServices,
  user: Account,
  body: Values<typeof batchBody>,
): Promise<Batch> {
  const { source, parent, destination } = await openBoth(services, user, body)
  return {
    source,
    selection: { parent, names: body.src_dirents },
    target: destination.library.editable(destination.path),
    folder: destination.path,
  }
}

/** As openCopyBatch; the source must be editable too. */
export async function openMoveBatch(
  services: BatchServices,
  user: Account,
  body: Values<typeof batchBody>,
): Promise<MoveBatch> {
  const { source, parent, destination } = await openBoth(services, user, body)
  return {
    source: source.editable(parent),
    selection: { parent, names: body.src_dirents },
    target: destination.library.editable(destination.path),
    folder: destination.path,
  }
}

async function openBoth(services: BatchServices, user: Account, body: Values<typeof batchBody>) {
  const source = await openSent(services, user, body.src_repo_id)
  const { path: parent } = await folderAt(source, body.src_parent_dir)
  const destination = await openDestination(services, user, body.dst_repo_id, body.dst_parent_dir)
  return { source, parent, destination }
}

/** Opens a library by an id from the body. Throws library-not-found, permission-denied. */
export async function openSent(
  { access }: Pick<BatchServices, 'access'>,
  user: Account,
  sentId: string,
): Promise<Library> {
  return access.open(user, parseLibraryId(sentId) ?? fail({ code: 'library-not-found', id: sentId }))
}

function lastName(path: string): string {
  return baseName(path as LibraryPath)
}
