import { visitedLink } from '../visited-link.ts'

/** URLs of the pages, relative to `app/`. Paths are query parameters, so that every name survives. */

export const folderUrl = (libraryId: string, path = '/') =>
  withPath(visitedLink === undefined ? `/library/${libraryId}` : '/', path)

export const fileUrl = (libraryId: string, path: string) =>
  withPath(visitedLink === undefined ? `/view/${libraryId}` : '/files/', path)

/** The timeline of all photos, or of a set of them. */
export const photosUrl = (set: string) => (set === 'all' ? '/photos' : `/photos/${set}`)

/** A file of a timeline of photos, at its day (`YYYY-MM-DD`). */
export const photoUrl = (libraryId: string, path: string, day: string, set: string) =>
  `${fileUrl(libraryId, path)}&day=${day}${set === 'all' ? '' : `&set=${set}`}`

/** A file with its comments, scrolled to one of them. */
export const commentUrl = (libraryId: string, path: string, commentId: number) =>
  `${fileUrl(libraryId, path)}&comment=${commentId}`

/** The history of a library, or of one file in it. */
export const historyUrl = (libraryId: string, path = '/') => withPath(`/history/${libraryId}`, path)

export const trashUrl = (libraryId: string, path = '/') => withPath(`/trash/${libraryId}`, path)

/** What takes up the space of a library, or of a folder in it. */
export const storageUrl = (libraryId: string, path = '/') => withPath(`/storage/${libraryId}`, path)

/** The tags of a library, or the files with one of them. */
export const tagsUrl = (libraryId: string, tagId?: number) =>
  tagId === undefined ? `/tags/${libraryId}` : `/tags/${libraryId}?tag=${tagId}`

export const searchUrl = (words: string) => `/search?${new URLSearchParams({ q: words })}`

function withPath(page: string, path: string): string {
  return path === '/' ? page : `${page}?${new URLSearchParams({ p: path }).toString().replaceAll('%2F', '/')}`
}

/** A file as of a commit. */
export function revisionUrl(libraryId: string, path: string, commitId: string): string {
  return `${fileUrl(libraryId, path)}&commit=${commitId}`
}

/** A folder as of a commit. */
export function snapshotUrl(libraryId: string, commitId: string, path = '/'): string {
  const query = new URLSearchParams({ commit: commitId, ...(path !== '/' && { at: path }) })
  return `${historyUrl(libraryId)}?${query.toString().replaceAll('%2F', '/')}`
}
