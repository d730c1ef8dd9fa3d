import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { api } from './http.ts'

/** A tag of a library. */
export type LibraryTag = Records['TagsOfLibrary']['repo_tags'][number]

/** A tag of a file, as in listings. */
export type FileTag = Records['FileTag']

const at = <Rest extends string>(libraryId: string, rest: Rest) =>
  `api/v2.1/repos/${libraryId}/${rest}` as const

/** The tags of a library. Live events invalidate them. */
export function libraryTagsQuery(libraryId: string) {
  return queryOptions({
    queryKey: ['tags', libraryId],
    queryFn: async ({ signal }) => (await api.get(at(libraryId, 'repo-tags/'), undefined, signal)).repo_tags,
  })
}

export const useLibraryTags = (libraryId: string) => useQuery(libraryTagsQuery(libraryId))

/** A file with a tag. */
export type TaggedFile = Records['TaggedFile']

/** The files with a tag. Those that were deleted are left out. */
export function useTaggedFiles(libraryId: string, tagId: number) {
  return useQuery({
    queryKey: ['tags', libraryId, tagId],
    queryFn: async ({ signal }) => {
      const url = at(libraryId, `tagged-files/${tagId}/`)
      const { tagged_files: files } = await api.get(url, undefined, signal)
      return files.flatMap((file) => ('file_deleted' in file ? [] : [file]))
    },
  })
}

export async function makeTag(
  libraryId: string,
  name: string,
  color: string,
): Promise<Omit<LibraryTag, 'files_count'>> {
  const form = { name, color }
  return (await api.post(at(libraryId, 'repo-tags/'), { form })).repo_tag
}

export async function changeTag(
  libraryId: string,
  id: number,
  { name, color }: { readonly name: string; readonly color: string },
): Promise<void> {
  await api.put(at(libraryId, `repo-tags/${id}/`), { form: { name, color } })
}

/** Removes it from all files, too. */
export async function deleteTag(libraryId: string, id: number): Promise<void> {
  await api.delete(at(libraryId, `repo-tags/${id}/`))
}

/** Replaces a tag by another one at all its files, and deletes it. */
export async function mergeTag(libraryId: string, id: number, into: number): Promise<void> {
  await api.post(at(libraryId, `repo-tags/${id}/merge/`), { form: { into } })
}

/** The most files of a call. */
const FILES_AT_ONCE = 200

/** Adds tags to files and removes tags from them, of as many as a call takes at a time. Files that have a tag, or do not, stay as they are. */
export async function changeTagsOf(
  libraryId: string,
  paths: readonly string[],
  { add = [], remove = [] }: { readonly add?: readonly number[]; readonly remove?: readonly number[] },
): Promise<void> {
  for (let start = 0; start < paths.length; start += FILES_AT_ONCE) {
    const file_paths = paths.slice(start, start + FILES_AT_ONCE)
    await api.post(at(libraryId, 'file-tags/batch/'), { json: { file_paths, add, remove } })
  }
}
