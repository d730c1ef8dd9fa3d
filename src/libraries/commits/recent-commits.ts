import type { Reader } from '../../platform/database/index.ts'
import { type CommitOwner, commitRows, type NumberedCommit } from './commit-store.ts'

// Bounds the memory of commits that consumers have not processed yet (I9).
const MAX_COMMITS = 5000

/**
 * Cache of the commits this process created last, so that consumers need not each read them. Commits are
 * immutable, so entries are never stale; evicted ones are read again (I3).
 */
export class RecentCommits {
  readonly #reader: Reader
  /** By library, without gaps. The library with the newest commit is last. */
  readonly #runs = new Map<number, NumberedCommit[]>()
  #count = 0

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Adds commits once they are part of the history, in order. */
  add(libraryKey: number, commits: readonly NumberedCommit[]): void {
    const [first] = commits
    if (first === undefined) return
    let run = this.#runs.get(libraryKey) ?? []
    if (run.at(-1)?.seq !== first.seq - 1) {
      this.#count -= run.length
      run = []
    }
    run.push(...commits)
    this.#count += commits.length
    this.#runs.delete(libraryKey)
    this.#runs.set(libraryKey, run)
    this.#shrink()
  }

  /** Whether all commits of a range are in the cache. */
  has(libraryKey: number, from: number, to: number): boolean {
    const run = this.#runs.get(libraryKey)
    const first = run?.[0]?.seq
    return run !== undefined && first !== undefined && first <= from && to < first + run.length
  }

  /** Commits of a library by number, oldest first. */
  async between(library: CommitOwner, from: number, to: number): Promise<NumberedCommit[]> {
    const run = this.#runs.get(library.key)
    const start = from - (run?.[0]?.seq ?? Infinity)
    const end = start + to - from + 1
    if (run !== undefined && start >= 0 && end <= run.length) return run.slice(start, end)
    return (await commitRows.listDown(this.#reader, library, to, from)).toReversed()
  }

  /** Evicts the older half of the least recently changed library. */
  #shrink(): void {
    for (const [key, run] of this.#runs) {
      if (this.#count <= MAX_COMMITS) return
      const evicted = Math.ceil(run.length / 2)
      this.#count -= evicted
      if (evicted === run.length) this.#runs.delete(key)
      else this.#runs.set(key, run.slice(evicted))
    }
  }
}
