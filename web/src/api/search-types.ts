import type { Records } from '../../../sdk/src/index.ts'
/** A result of `GET /api2/search/`. */
export type SearchResult = Records['SearchResult']

export type SearchResults = Records['SearchPage']

/** Search parameters, with the names of the API. */
export interface SearchQuery {
  readonly q: string
  readonly search_repo?: string
  readonly search_path?: string
  readonly obj_type?: 'dir' | 'file'
  readonly search_ftypes?: 'custom'
  readonly ftype?: string
  readonly input_fexts?: string
  readonly time_from?: number
  readonly size_from?: number
  readonly size_to?: number
  readonly search_filename_only?: boolean
}
