import { errorForStatus, type Records } from '../../../sdk/src/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { visitedLink } from '../visited-link.ts'
import { api, call } from './http.ts'
import { retryWhileBusy } from './retry.ts'
import { visitedThumbnail } from './visited.ts'

/** Selected entries: names in one folder of a library. */
export interface Selected {
  readonly libraryId: string
  readonly folder: string
  readonly names: readonly string[]
}

/** A file of any library. */
export interface FileAt {
  readonly libraryId: string
  readonly path: string
}

/** Files of several folders, as one selection for each folder. */
export function groupByFolder(files: readonly FileAt[]): Selected[] {
  const groups = Map.groupBy(files, ({ libraryId, path }) => `${libraryId} ${parentOf(path)}`)
  return Array.from(groups.values(), (some) => ({
    libraryId: some[0]?.libraryId ?? '',
    folder: parentOf(some[0]?.path ?? '/'),
    names: some.map(({ path }) => nameOf(path)),
  }))
}

/** A deletion, with what is needed to undo it. */
export interface Deletion extends Selected {
  /** The commit before it. */
  readonly commitId: string
}

/** The name that an entry got. */
function createdName(made: { readonly obj_name: string } | { readonly success: true }): string {
  if ('success' in made) throw errorForStatus(500, 'the server did not name the entry')
  return made.obj_name
}

/** Creates a folder. Resolves to its name, which differs if the requested one was taken. */
export async function makeFolder(libraryId: string, path: string): Promise<string> {
  const form = { operation: 'mkdir' }
  const made = await api.post(`api/v2.1/repos/${libraryId}/dir/`, { query: { p: path }, form })
  return createdName(made)
}

/** Creates an empty file. Resolves to its name. */
export async function makeFile(libraryId: string, path: string): Promise<string> {
  const form = { operation: 'create' }
  const made = await api.post(`api/v2.1/repos/${libraryId}/file/`, { query: { p: path }, form })
  return createdName(made)
}

/** Resolves to the new name. */
export async function renameEntry(
  libraryId: string,
  path: string,
  type: 'file' | 'dir',
  newName: string,
): Promise<string> {
  const form = { operation: 'rename', newname: newName }
  const made = await api.post(`api/v2.1/repos/${libraryId}/${type}/`, { query: { p: path }, form })
  return createdName(made)
}

/** Renames several entries of a folder, or none. */
export async function renameEntries(
  { libraryId, folder, names }: Selected,
  newNames: readonly string[],
): Promise<void> {
  const json = { repo_id: libraryId, parent_dir: folder, dirents: names, new_names: newNames }
  await api.post('api/v2.1/repos/batch-rename-item/', { json })
}

export async function deleteEntries({ libraryId, folder, names }: Selected): Promise<Deletion> {
  const json = { repo_id: libraryId, parent_dir: folder, dirents: names }
  const { commit_id } = await api.delete('api/v2.1/repos/batch-delete-item/', { json })
  return { libraryId, folder, names, commitId: commit_id }
}

/** Resolves to the error messages of entries that could not be restored. */
export async function undoDeletion({ libraryId, folder, names, commitId }: Deletion): Promise<string[]> {
  const within = folder === '/' ? '' : folder
  const json = { commit_id: commitId, path: names.map((name) => `${within}/${name}`) }
  const { failed } = await api.post(`api/v2.1/repos/${libraryId}/trash/revert-dirents/`, { json })
  return failed.map(({ error_msg }) => error_msg)
}

/** Starts a copy or move. Resolves to the id of the task, or undefined if it is done already. */
export async function transferEntries(
  operation: 'copy' | 'move',
  { libraryId, folder, names }: Selected,
  to: { readonly libraryId: string; readonly path: string },
): Promise<string | undefined> {
  const json = {
    src_repo_id: libraryId,
    src_parent_dir: folder,
    src_dirents: names,
    dst_repo_id: to.libraryId,
    dst_parent_dir: to.path,
  }
  const { task_id } = await api.post(`api/v2.1/repos/async-batch-${operation}-item/`, {
    json,
  })
  return task_id || undefined
}

export type TaskProgress = Records['TaskProgress']

export const taskProgress = (id: string) => api.get('api/v2.1/query-copy-move-progress/', { task_id: id })

export const cancelTask = (id: string) => api.delete('api/v2.1/copy-move-task/', { json: { task_id: id } })

export async function setStar(libraryId: string, path: string, starred: boolean): Promise<void> {
  const fields = { repo_id: libraryId, path }
  if (starred) await api.post('api/v2.1/starred-items/', { form: fields })
  else await api.delete('api/v2.1/starred-items/', { query: fields })
}

export async function setLock(libraryId: string, path: string, locked: boolean): Promise<void> {
  const form = { operation: locked ? 'lock' : 'unlock' }
  await api.put(`api/v2.1/repos/${libraryId}/file/`, { query: { p: path }, form })
}

/** Fetches the thumbnail of an image. */
export async function fetchThumbnail(
  libraryId: string,
  path: string,
  size: number,
  signal?: AbortSignal,
): Promise<Blob> {
  const query = { p: path, size }
  const fetchIt = () =>
    visitedLink === undefined
      ? call('GET', `api2/repos/${libraryId}/thumbnail/`, { query, signal })
      : call('GET', visitedThumbnail(visitedLink, path, size), { signal })
  const response = await retryWhileBusy(fetchIt, signal)
  if (response.status === 204) throw new Error('the file contains no picture')
  return response.blob()
}
