import type { CommitId } from '../../base/objects/index.ts'

/** How long after a conflict the next one is expected. A mutex that turns out to be needless costs two round trips. */
const EXPECTED_MS = 10_000
/** Libraries at most. Forgetting one costs an edit that is applied twice. */
const MAX_LIBRARIES = 1000

interface Contended {
  until: number
  /** The head as this process left it. */
  ownHead: CommitId | undefined
}

/** Remembers libraries whose head other nodes move at the same time. */
export class Contention {
  readonly #libraries = new Map<number, Contended>()

  /** Whether other nodes are likely to move the head while an edit is applied. */
  isExpected(libraryKey: number): boolean {
    const found = this.#libraries.get(libraryKey)
    if (found === undefined) return false
    if (found.until > performance.now()) return true
    this.#libraries.delete(libraryKey)
    return false
  }

  /** Another node moved the head while edits were applied. */
  noteConflict(libraryKey: number): void {
    const ownHead = this.#libraries.get(libraryKey)?.ownHead
    if (this.#libraries.size >= MAX_LIBRARIES) this.#libraries.clear()
    this.#libraries.set(libraryKey, { until: performance.now() + EXPECTED_MS, ownHead })
  }

  /** The head that was found under the mutex. One of another node is a sign of contention, though nothing was applied in vain. */
  noteHead(libraryKey: number, head: CommitId): void {
    const found = this.#libraries.get(libraryKey)
    if (found !== undefined && found.ownHead !== head) found.until = performance.now() + EXPECTED_MS
  }

  noteOwnHead(libraryKey: number, head: CommitId): void {
    const found = this.#libraries.get(libraryKey)
    if (found !== undefined) found.ownHead = head
  }
}
