import { api } from './http.ts'
import type { SearchQuery, SearchResults } from './search-types.ts'

export function fetchResults(
  query: SearchQuery,
  { page = 1, perPage }: { page?: number; perPage: number },
  signal?: AbortSignal,
): Promise<SearchResults> {
  return api.get('api2/search/', { ...query, page, per_page: perPage }, signal)
}
