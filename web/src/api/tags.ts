import { useQuery } from '@tanstack/react-query'
import { api } from './http.ts'

/** A tag of a library. */
interface LibraryTag {
  readonly repo_tag_id: number
  readonly tag_name: string
  readonly tag_color: string
  readonly files_count: number
}

/** A tag of a file, as in listings. */
export interface FileTag {
  readonly file_tag_id: number
  readonly repo_tag_id: number
  readonly tag_name: string
  readonly tag_color: string
}

const at = (libraryId: string, rest: string) => `api/v2.1/repos/${libraryId}/${rest}`

/** The tags of a library. Live events invalidate them. */
export function useLibraryTags(libraryId: string) {
  return useQuery({
    queryKey: ['tags', libraryId],
    queryFn: async ({ signal }) =>
      (await api.get<{ repo_tags: LibraryTag[] }>(at(libraryId, 'repo-tags/'), undefined, signal)).repo_tags,
  })
}

export async function makeTag(libraryId: string, name: string, color: string): Promise<LibraryTag> {
  const form = { name, color }
  return (await api.post<{ repo_tag: LibraryTag }>(at(libraryId, 'repo-tags/'), { form })).repo_tag
}

export function tagFile(libraryId: string, path: string, tagId: number): Promise<unknown> {
  return api.post(at(libraryId, 'file-tags/'), { form: { file_path: path, repo_tag_id: tagId } })
}

export function untagFile(libraryId: string, fileTagId: number): Promise<unknown> {
  return api.delete(at(libraryId, `file-tags/${fileTagId}/`))
}
