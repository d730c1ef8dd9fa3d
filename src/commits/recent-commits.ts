import type { Reader } from '../database/index.ts'
import { type CommitOwner, listCommitsDown, type NumberedCommit } from './commit-store.ts'

// Bounds the memory of what followers have not come to yet (I9).
const MOST_COMMITS = 5000

/**
 * The commits this process made last, so that those who follow commits need not each read them. Commits never change,
 * so nothing here can be stale, and what is forgotten is read again (I3).
 */
export class RecentCommits {
  readonly #reader: Reader
  /** By library, each without gaps; the library that had the newest commit last. */
  readonly #runs = new Map<number, NumberedCommit[]>()
  #count = 0

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Caches commits once they are part of the history, in order. */
  remember(libraryKey: number, commits: readonly NumberedCommit[]): void {
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

  /** Commits of a library by their numbers, oldest first. */
  async between(library: CommitOwner, from: number, to: number): Promise<NumberedCommit[]> {
    const run = this.#runs.get(library.key)
    const start = from - (run?.[0]?.seq ?? Infinity)
    const end = start + to - from + 1
    if (run !== undefined && start >= 0 && end <= run.length) return run.slice(start, end)
    return (await listCommitsDown(this.#reader, library, to, from)).toReversed()
  }

  /** What is forgotten is the elder half of the library that was quiet for longest. */
  #shrink(): void {
    for (const [key, run] of this.#runs) {
      if (this.#count <= MOST_COMMITS) return
      const forgotten = Math.ceil(run.length / 2)
      this.#count -= forgotten
      if (forgotten === run.length) this.#runs.delete(key)
      else this.#runs.set(key, run.slice(forgotten))
    }
  }
}
