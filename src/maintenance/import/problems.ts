/** The source cannot be imported; the message is one sentence that says what to do. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}

/** What did not come over, or not as it was. */
export type ProblemKind =
  | 'library-skipped'
  | 'template-skipped'
  | 'commit-skipped'
  | 'history-cut'
  | 'head-damaged'
  | 'folder-lost'
  | 'file-lost'
  | 'name-changed'
  | 'block-missing'
  | 'block-damaged'
  | 'view-skipped'
  | 'account-skipped'
  | 'account-kept'
  | 'account-added'
  | 'group-skipped'
  | 'group-renamed'
  | 'share-skipped'
  | 'link-skipped'
  | 'star-skipped'
  | 'token-skipped'
  | 'orphaned-objects'

/** One line of the report. */
export interface Problem {
  readonly kind: ProblemKind
  /** The library it is about; absent for accounts and groups. */
  readonly library?: string
  readonly message: string
}

/** How many lines of one kind and library are kept. The others are only counted, so that memory stays flat. */
const KEPT_PER_KIND = 100

/** Collects problems and counts them. */
export class Problems {
  readonly list: Problem[] = []
  readonly counts: Partial<Record<ProblemKind, number>> = {}
  readonly #kept = new Map<string, number>()

  add(kind: ProblemKind, message: string, library?: string): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1
    const group = `${kind} ${library ?? ''}`
    const kept = this.#kept.get(group) ?? 0
    if (kept >= KEPT_PER_KIND) return
    this.#kept.set(group, kept + 1)
    this.list.push({ kind, message, ...(library !== undefined && { library }) })
  }
}
