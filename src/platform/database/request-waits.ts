import { Overdue } from '../../base/scheduling/index.ts'
import { DatabaseError } from './errors.ts'

/** In milliseconds. Tests lower them. */
export const waitLimits = {
  /** All that one request waits for the database. */
  requestMs: 60_000,
  /** Shorter waits do not count: what gets answers makes progress, however long it takes. */
  countedMs: 1000,
}

/** A request, as far as it waits for the database: for a connection, a lock, a turn, an answer or a flush. */
export class RequestWait {
  /** A change was committed, or may be at any moment: only 504 is true then. */
  mayHaveChanged = false
  /** It was answered because it took too long. What it has not committed by then is not committed any more. */
  isExpired = false
  /** Its handling has ended. What it has started and not awaited goes on without a deadline. */
  isOver = false
  /** Called when it expires, to find out whether something goes on that may change data. */
  withdrawals: Set<() => boolean> | undefined
  /** Waits that have not ended. Several at once count as one. */
  open = 0
  since = 0
  spentMs = 0
  expire: (error: DatabaseError) => void = () => {}
}

/**
 * Answers requests that have waited for the database for too long, whatever for. One deadline counts for all waits of a request, so that limits of single
 * waits do not add up. Time between waits is given back, so that an upload of hours may wait now and then.
 */
export class RequestWaits implements Disposable {
  readonly #waiting = new Set<RequestWait>()
  /** One for all requests, and none while nobody waits. */
  #timer: NodeJS.Timeout | undefined

  /** Rejects with Overdue if the request waits for too long before `result` settles. */
  guard<T>(request: RequestWait, result: Promise<T>, onEnd?: () => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    request.expire = (cause) => reject(new Overdue(cause, result))
    const end = () => {
      request.isOver = true
      this.#waiting.delete(request)
      onEnd?.()
    }
    result.then(resolve, reject)
    result.then(end, end)
    return promise
  }

  /** A wait begins. Throws if the request has been answered already. */
  enter(request: RequestWait | undefined): void {
    if (request === undefined || request.isOver) return
    refuseExpired(request)
    request.open += 1
    if (request.open > 1) return
    const now = performance.now()
    // `since` is the end of the last wait until here.
    request.spentMs = Math.max(0, request.spentMs - (now - request.since))
    request.since = now
    this.#waiting.add(request)
    this.#timer ??= this.#arm()
  }

  /** A wait ends. */
  leave(request: RequestWait | undefined): void {
    if (request === undefined || request.isOver) return
    request.open -= 1
    if (request.open > 0) return
    this.progress(request)
    this.#waiting.delete(request)
  }

  /** Something was answered, and the wait goes on. */
  progress(request: RequestWait | undefined): void {
    if (request === undefined || request.isOver) return
    const now = performance.now()
    const ms = now - request.since
    if (ms > waitLimits.countedMs) request.spentMs += ms
    request.since = now
  }

  /** Counts the time until `work` settles as a wait of the request. */
  async track<T>(request: RequestWait | undefined, work: Promise<T>, withdraw: () => boolean): Promise<T> {
    if (request === undefined) return work
    this.enter(request)
    request.withdrawals ??= new Set()
    request.withdrawals.add(withdraw)
    try {
      return await work
    } finally {
      request.withdrawals.delete(withdraw)
      this.leave(request)
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  #arm(): NodeJS.Timeout {
    return setTimeout(() => this.#sweep(), waitLimits.requestMs / 20).unref()
  }

  #sweep(): void {
    const now = performance.now()
    for (const request of this.#waiting) {
      if (request.spentMs + now - request.since < waitLimits.requestMs) continue
      this.#waiting.delete(request)
      request.isExpired = true
      for (const withdraw of request.withdrawals ?? []) if (!withdraw()) request.mayHaveChanged = true
      request.expire(overdue(request))
    }
    this.#timer = this.#waiting.size > 0 ? this.#arm() : undefined
  }
}

/** Throws for a request that has been answered and goes on: it must not commit anything. */
export function refuseExpired(request: RequestWait | undefined): void {
  if (request?.isExpired && !request.isOver) throw overdue(request)
}

function overdue({ mayHaveChanged }: RequestWait): DatabaseError {
  return mayHaveChanged
    ? new DatabaseError(
        'uncertain',
        'The request waited for the database for too long, and may have changed it.',
      )
    : new DatabaseError('busy', 'The request waited for the database for too long, and has changed nothing.')
}
