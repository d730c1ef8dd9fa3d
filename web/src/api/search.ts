import { api } from './http.ts'
import type { SearchResults, SearchWish } from './search-wire.ts'

export function fetchResults(
  wish: SearchWish,
  { page = 1, perPage }: { page?: number; perPage: number },
  signal?: AbortSignal,
): Promise<SearchResults> {
  return api.get<SearchResults>('api2/search/', { ...wish, page, per_page: perPage }, signal)
}
