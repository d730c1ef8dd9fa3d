/** A result of `GET /api2/search/`. */
export interface SearchResult {
  readonly repo_id: string
  readonly repo_name: string
  readonly name: string
  readonly fullpath: string
  readonly is_dir: boolean
  readonly size: number
  /** Unix seconds. */
  readonly last_modified: number
  /** Excerpt with matches in `<b>`; everything else is escaped. */
  readonly content_highlight: string
  /** Set if a comment on the file matches, from which the excerpt is. */
  readonly comment?: { readonly id: number; readonly user_name: string; readonly created_at: string }
}

export interface SearchResults {
  readonly total: number
  /** There are at least as many as `total`, and they were not counted. */
  readonly total_is_minimum?: boolean
  readonly has_more: boolean
  readonly results: readonly SearchResult[]
}

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
