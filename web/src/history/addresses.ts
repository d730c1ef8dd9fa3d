import { fileAddress, historyAddress } from '../addresses.ts'

/** A file as it was in a commit. */
export function revisionAddress(libraryId: string, path: string, commitId: string): string {
  return `${fileAddress(libraryId, path)}&commit=${commitId}`
}

/** A folder of a library as it was in a commit. */
export function stateAddress(libraryId: string, commitId: string, path = '/'): string {
  const query = new URLSearchParams({ commit: commitId, ...(path !== '/' && { at: path }) })
  return `${historyAddress(libraryId)}?${query.toString().replaceAll('%2F', '/')}`
}
