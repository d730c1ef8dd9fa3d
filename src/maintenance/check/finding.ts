/** What `carrel check` finds. */
export type FindingKind =
  | 'commit-missing'
  | 'head-wrong'
  | 'object-missing'
  | 'object-damaged'
  | 'block-missing'
  | 'block-damaged'
  | 'block-unheld'
  | 'upload-lost'
  | 'archive-lost'
  | 'folder-totals'
  | 'library-size'
  | 'consumer-ahead'
  | 'path-index'
  | 'trash'
  | 'search-index'
  | 'photo-index'
  | 'path-binding'
  | 'annotations'
  | 'usage'

/** One finding. Everything is named, so that an operator can tell the owner of a file. */
export interface Finding {
  readonly kind: FindingKind
  readonly library: string
  readonly libraryName: string
  /** Null if it is about the library as a whole. */
  readonly path: string | null
  /** The id of the dir, file or commit; the key of an unfinished upload or an archive. */
  readonly object: string | null
  readonly block: string | null
  /** Kept commits in which the path has this object. */
  readonly versions: number
  /** Whether the current tree is among them. */
  readonly current: boolean
  readonly newestCommit: string | null
  readonly oldestCommit: string | null
  readonly detail: string
  /** The true sums, where stored ones are wrong. */
  readonly actual: { readonly size: number; readonly fileCount: number; readonly dirCount: number } | null
}

/** Findings of two runs are equal if these are. */
export function keyOfFinding({ kind, library, path, object, block }: Finding): string {
  return JSON.stringify([kind, library, path, object, block])
}
