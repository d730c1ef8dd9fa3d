import type { Query } from './query.ts'

/** The scope of a search: whole libraries, and folders and files of others. */
export interface Scope {
  readonly libraries: readonly number[]
  /** Libraries of which only `folders` and `files` are searched. */
  readonly partly: readonly number[]
  /** Keys of folders. Everything below them is in scope, they themselves are not. */
  readonly folders: readonly number[]
  /** Keys of single files. */
  readonly files: readonly number[]
}

export interface Filters {
  readonly kind?: 'dir' | 'file' | undefined
  /** In lower case. Only files with one of them match. */
  readonly extensions?: readonly string[] | undefined
  readonly time?: Bounds | undefined
  readonly size?: Bounds | undefined
}

/** Inclusive. */
export interface Bounds {
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export interface MatchRequest {
  readonly query: Query
  readonly scope: Scope
  readonly filters: Filters
  /** `names`: only names are searched. `part`: names that contain the text literally. */
  readonly where: 'everywhere' | 'names' | 'part'
  /** `rank`: exact names, then names, then texts, each newest first. `listing`: folders first, each newest first. */
  readonly order: 'rank' | 'listing'
  readonly offset: number
  readonly limit: number
  /** Halves of the index, newest first, to be searched in parallel. */
  readonly slices: () => Promise<readonly Slice[]>
}
/** A key range of the index; unbounded by default. */
export interface Slice {
  /** Exclusive upper bound. */
  readonly before?: number | undefined
  /** Inclusive lower bound. */
  readonly from?: number | undefined
}
