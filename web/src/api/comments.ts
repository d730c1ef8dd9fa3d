import { useQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { api, call } from './http.ts'

/** A comment on a file. */
export type FileComment = Records['Comment']

const at = (libraryId: string) => `api2/repos/${libraryId}/file/comments/` as const

/** The comments on a file, oldest first. Live events invalidate them. */
export function useComments(libraryId: string, path: string) {
  return useQuery({
    queryKey: ['comments', libraryId, path],
    queryFn: async ({ signal }) => (await api.get(at(libraryId), { p: path }, signal)).comments,
  })
}

export function addComment(libraryId: string, path: string, comment: string): Promise<FileComment> {
  return api.post(at(libraryId), { query: { p: path }, form: { comment } })
}

/** Changes the text of a comment, or resolves or reopens it. */
export function changeComment(
  libraryId: string,
  id: number,
  changes: { comment: string } | { resolved: boolean },
): Promise<FileComment> {
  return api.put(`${at(libraryId)}${id}/`, { form: changes })
}

export async function removeComment(libraryId: string, id: number): Promise<void> {
  await call('DELETE', `${at(libraryId)}${id}/`)
}

/** The people who can read a library, for mentions. */
export function useReaders(libraryId: string) {
  return useQuery({
    queryKey: ['readers', libraryId],
    queryFn: async ({ signal }) =>
      (await api.get(`api/v2.1/repos/${libraryId}/related-users/`, undefined, signal)).user_list,
    staleTime: 60_000,
  })
}
