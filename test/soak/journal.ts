/** A command that ran beside the load. Times in seconds since the start. */
interface Span {
  readonly began: number
  /** Undefined while it runs. */
  ended: number | undefined
}

/** Collections that something needs from being replaced to being deleted, if nothing holds it back. */
const COLLECTIONS_NEEDED = 6

/** What the load wrote and which commands ran when, so that the garbage on disk can be explained. */
export class Journal {
  readonly #startedAt = performance.now()
  readonly #written: { readonly at: number; readonly bytes: number }[] = []
  readonly #collections: Span[] = []
  readonly #backups: Span[] = []

  /** Seconds since the start. */
  now(): number {
    return (performance.now() - this.#startedAt) / 1000
  }

  /** Bytes that the server stores as blocks from now on. */
  wrote(bytes: number): void {
    this.#written.push({ at: this.now(), bytes })
  }

  /** Begins a command. Disposal ends it. */
  begin(kind: 'collection' | 'backup'): Disposable {
    const span: Span = { began: this.now(), ended: undefined }
    ;(kind === 'collection' ? this.#collections : this.#backups).push(span)
    return { [Symbol.dispose]: () => void (span.ended = this.now()) }
  }

  /**
   * The most bytes that may wait to be deleted at a time: all that was written since the earliest moment from which garbage may be left. What was replaced
   * before has met enough collections, unless a backup held it back that ran meanwhile. Undefined as long as there were too few collections.
   */
  explainedAt(at: number): number | undefined {
    const undisturbed = this.#beginOfCollections(at)
    if (undisturbed === undefined) return undefined
    const overlapping = this.#backups.filter(
      ({ began, ended = Number.POSITIVE_INFINITY }) => began <= at && ended >= undisturbed,
    )
    const held = Math.min(undisturbed, ...overlapping.map(({ began }) => began))
    const since = held === undisturbed ? undisturbed : this.#beginOfCollections(held)
    if (since === undefined) return undefined
    return this.#written.reduce((sum, one) => sum + (one.at >= since && one.at <= at ? one.bytes : 0), 0)
  }

  /** When the first of the last collections began that ended by a time. */
  #beginOfCollections(at: number): number | undefined {
    const ended = this.#collections.filter((one) => one.ended !== undefined && one.ended <= at)
    return ended.at(-COLLECTIONS_NEEDED)?.began
  }
}
