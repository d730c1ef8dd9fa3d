import type { Records } from '../../../sdk/src/index.ts'
import { api } from './http.ts'
import type { FileState } from './viewer.ts'

/** An entry of a zip archive. */
export type ArchiveEntry = Omit<Records['ArchiveEntry'], 'packed_size'>

export function fetchArchive({ libraryId, path, commitId }: FileState, signal?: AbortSignal) {
  const query = { p: path, commit_id: commitId }
  return api.get(`api/v2.1/repos/${libraryId}/file/archive-entries/`, query, signal)
}

/** Starts an extraction and resolves to the id of the task. Without names, everything in the folder `base` is extracted. */
export async function extractArchive(
  { libraryId, path }: FileState,
  what: { readonly base: string; readonly names: readonly string[]; readonly folderName?: string },
  to: { readonly libraryId: string; readonly path: string },
): Promise<string> {
  const json = {
    p: path,
    base: what.base,
    names: what.names,
    ...(what.folderName !== undefined && { folder_name: what.folderName }),
    dst_repo_id: to.libraryId,
    dst_parent_dir: to.path,
  }
  const { task_id } = await api.post(`api/v2.1/repos/${libraryId}/file/extract-archive/`, { json })
  return task_id
}
