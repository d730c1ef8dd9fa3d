import type { Query } from './query.ts'

/** Where to look: whole libraries, and folders of others. */
export interface Scope {
  readonly libraries: readonly number[]
  /** Libraries of which only `folders` are looked at. */
  readonly partly: readonly number[]
  /** Keys of folders; what is in them and below them counts, they themselves do not. */
  readonly folders: readonly number[]
}

export interface Filters {
  readonly kind?: 'dir' | 'file' | undefined
  /** In lower case; only files with one of them count. */
  readonly extensions?: readonly string[] | undefined
  readonly time?: Bounds | undefined
  readonly size?: Bounds | undefined
}

/** Both ends belong to it. */
export interface Bounds {
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export interface MatchWish {
  readonly query: Query
  readonly scope: Scope
  readonly filters: Filters
  /** `names`: words are looked for in names only. `part`: names that hold the text as it is. */
  readonly where: 'everywhere' | 'names' | 'part'
  /** `rank`: exact names, then names, then texts, each newest first. `listing`: folders first, each newest first. */
  readonly order: 'rank' | 'listing'
  readonly offset: number
  readonly limit: number
  /** Parts of the index that together are all of it, the newest first, to be looked through side by side. */
  readonly slices: (parts: 2 | 3) => Promise<readonly Slice[]>
}
/** A part of the index by its keys; without bounds it is all of it. */
export interface Slice {
  /** Keys below this one; not it. */
  readonly before?: number | undefined
  /** Keys from this one on. */
  readonly from?: number | undefined
}
