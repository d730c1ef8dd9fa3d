import { AsyncLocalStorage } from 'node:async_hooks'
import type { Value } from '../database.ts'
import { RequestWait, type RequestWaits } from '../request-waits.ts'
import type { CachedQuery } from '../row-cache.ts'
import type { RowKey } from '../row-key.ts'
import type { Statement } from './statements.ts'

/** Cached reads in a row that one answer of the server may cover, so that others get their turn. */
const MAX_COVERED_READS = 200

/** Kinds of requests whose reads are remembered, and reads of each. */
const MAX_READ_SETS = 1000
const MAX_READS = 16

/** A cached read of a request. */
export interface RequestRead {
  readonly statement: Statement
  readonly values: readonly Value[]
  readonly query: CachedQuery
  readonly key: RowKey
}

/** What the last request of a kind has read. */
interface ReadSet {
  readonly reads: readonly RequestRead[]
  /** Those that the request before it had read, too. */
  readonly repeated: readonly RequestRead[]
}

class Scope extends RequestWait {
  /** Equal for requests that probably read the same rows. */
  readonly key: string | undefined
  readonly reads: RequestRead[] = []
  hasPrefetched = false
  /** Snapshots that had been asked for when the request arrived. */
  readonly asked: number

  constructor(key: string | undefined, asked: number) {
    super()
    this.key = key
    this.asked = asked
  }
}

/**
 * Tells which cached reads need not wait for a snapshot of their own. The request that runs while the answer of the server is handed
 * out had waited for it. If the snapshot was asked for after the request arrived, it shows everything committed before that.
 *
 * Waiting is not enough: a request that came in while the snapshot was on its way may be started by the end of the one that waited,
 * as on a pipelining connection or behind a semaphore. And what runs outside of a request, such as an event stream, may work on
 * news it queued meanwhile. So the time of arrival counts, and without one each read waits.
 */
export class RequestScopes {
  readonly #scopes = new AsyncLocalStorage<Scope>()
  readonly #waits: RequestWaits
  /** By the key of the request, the least recent first. */
  readonly #readSets = new Map<string, ReadSet>()
  #asked = 0
  /** The snapshot that is being handed out, 0 for none. */
  #answered = 0
  #covered = 0

  constructor(waits: RequestWaits) {
    this.#waits = waits
  }

  /** Runs the handling of a request that has arrived. It ends when the work, or the promise it returns, does. The latter rejects at its deadline. */
  run<T>(work: () => T, key?: string): T {
    const scope = new Scope(key, this.#asked)
    const end = () => this.#remember(scope)
    const result = this.#scopes.run(scope, work)
    if (result instanceof Promise) return this.#waits.guard(scope, result, end) as T
    scope.isOver = true
    end()
    return result
  }

  /** The request that the caller handles, if it has not ended. */
  get request(): RequestWait | undefined {
    const scope = this.#scopes.getStore()
    return scope?.isOver ? undefined : scope
  }

  /**
   * Records a cached read of the request. Returns what the last two requests like it have both read, for its first read, and nothing for others. What only
   * the last one has read is unlikely to be read again: for example the rows of a folder, under the id of a version that an upload has replaced.
   */
  noteRead(read: RequestRead): readonly RequestRead[] {
    const scope = this.#scopes.getStore()
    if (scope?.key === undefined || scope.isOver) return []
    if (scope.reads.length < MAX_READS) scope.reads.push(read)
    if (scope.hasPrefetched) return []
    scope.hasPrefetched = true
    return this.#readSets.get(scope.key)?.repeated ?? []
  }

  #remember({ key, reads }: Scope): void {
    if (key === undefined || reads.length < 2) return
    const before = this.#readSets.get(key)?.reads ?? []
    const repeated = reads.filter((read) =>
      before.some(({ query, key: of }) => query === read.query && of === read.key),
    )
    this.#readSets.delete(key)
    this.#readSets.set(key, { reads, repeated })
    if (this.#readSets.size <= MAX_READ_SETS) return
    const [oldest] = this.#readSets.keys()
    if (oldest !== undefined) this.#readSets.delete(oldest)
  }

  /** To be called before the server is asked for a snapshot. Resolves to its number. */
  ask(): number {
    return ++this.#asked
  }

  /** To be called with the number of a snapshot once the cache is invalidated accordingly, before those who wait for it go on. */
  answer(snapshot: number): void {
    this.#answered = snapshot
    this.#covered = 0
    // Runs when all promises that this settles are done, before the next callback of the event loop.
    process.nextTick(this.#close)
  }

  /** Whether a cached read may be answered at once. To be asked once for each. */
  takeCovered(): boolean {
    if (this.#answered === 0 || this.#covered >= MAX_COVERED_READS) return false
    const scope = this.#scopes.getStore()
    if (scope === undefined || scope.isOver || scope.asked >= this.#answered) return false
    this.#covered += 1
    return true
  }

  readonly #close = (): void => {
    this.#answered = 0
  }
}
