import type { QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Optimistic update of cached data, at once. A fetch in flight would overwrite it with the state before the change, so it is cancelled:
 * call `invalidateQueries` when the server has responded. Data that is not there yet is left alone, and so is its fetch.
 */
export function patchQuery<T>(queries: QueryClient, queryKey: QueryKey, update: (data: T) => T): void {
  if (queries.getQueryData(queryKey) === undefined) return
  // Reverts synchronously to the data before the fetch, so the update below is the last.
  void queries.cancelQueries({ queryKey, exact: true })
  queries.setQueryData<T>(queryKey, (data) => data && update(data))
}
