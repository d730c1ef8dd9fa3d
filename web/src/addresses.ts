/** The addresses of the app's pages, from `app/` on. Paths are in the query, where every name survives. */

export const folderAddress = (libraryId: string, path = '/') => withPath(`/library/${libraryId}`, path)

export const fileAddress = (libraryId: string, path: string) => withPath(`/view/${libraryId}`, path)

/** The history of a library, or of one file in it. */
export const historyAddress = (libraryId: string, path = '/') => withPath(`/history/${libraryId}`, path)

export const trashAddress = (libraryId: string, path = '/') => withPath(`/trash/${libraryId}`, path)

export const searchAddress = (words: string) => `/search?${new URLSearchParams({ q: words })}`

function withPath(page: string, path: string): string {
  return path === '/' ? page : `${page}?${new URLSearchParams({ p: path }).toString().replaceAll('%2F', '/')}`
}
