import { AsyncLocalStorage } from 'node:async_hooks'

/** An operation that runs longer does not hold back garbage collection any more: a client could otherwise hold it back for ever. */
const MAX_SECONDS = 7 * 86_400
/** From this age on an operation commits nothing, long before it stops holding back garbage collection. */
const MAX_COMMITTING_SECONDS = MAX_SECONDS - 86_400

/** A running operation. Dispose of it when it is over. Disposing twice is harmless. */
export class Operation implements Disposable {
  readonly began: number
  /** Counts the leases of this process. */
  readonly lease: number
  readonly #all: Set<Operation>
  readonly #current: AsyncLocalStorage<Operation>

  constructor(all: Set<Operation>, current: AsyncLocalStorage<Operation>, began: number, lease: number) {
    this.#all = all
    this.#current = current
    this.began = began
    this.lease = lease
    all.add(this)
  }

  /** Runs its work. What that writes is refused once the lease under which the operation began has ended. */
  run<T>(work: () => T): T {
    return this.#current.run(this, work)
  }

  [Symbol.dispose](): void {
    this.#all.delete(this)
  }
}

/**
 * The operations that run in this process, with the times at which they began, in seconds. Garbage collection deletes nothing that was
 * condemned since the oldest of them began, because it may rely on rows and files that nothing refers to yet.
 */
export class RunningOperations {
  readonly #now: () => number
  /** In the order of their beginning, so that the first is the oldest. */
  readonly #running = new Set<Operation>()
  readonly #current = new AsyncLocalStorage<Operation>()
  #lease = 0

  constructor(now: () => number) {
    this.#now = now
  }

  begin(): Operation {
    return new Operation(this.#running, this.#current, this.#now(), this.#lease)
  }

  /** The operation whose work this is. Undefined for work outside of operations, and for what one has left behind. */
  get current(): Operation | undefined {
    const operation = this.#current.getStore()
    return operation !== undefined && this.#running.has(operation) ? operation : undefined
  }

  /** Whether everything that an operation relies on was kept for it since it began. */
  isKept(operation: Operation | undefined): boolean {
    if (operation === undefined) return true
    return operation.lease === this.#lease && operation.began > this.#now() - MAX_COMMITTING_SECONDS
  }

  /** To be called when another process has ended the lease of this one: nothing is kept for the operations that began under it. */
  endLease(): void {
    this.#lease += 1
  }

  /** When the oldest operation began that holds back garbage collection; undefined if there is none. */
  oldest(): number | undefined {
    const earliest = this.#now() - MAX_SECONDS
    for (const { began } of this.#running) if (began >= earliest) return began
    return undefined
  }
}
