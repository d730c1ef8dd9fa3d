import { fail } from '../errors.ts'

/** A queue is full, or a waiter reached its deadline. The work was not started. */
export class Busy extends Error {
  override readonly name = 'Busy'
  readonly retryAfterSeconds: number

  constructor(retryAfterSeconds: number) {
    super(`Too much is waiting. Try again in ${retryAfterSeconds} s.`)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Limits of the keys that share a prefix. */
interface GroupBounds {
  /** Maximum slots of the group. */
  readonly slots?: number
  /** Maximum waiters of the group. */
  readonly waiting?: number
}

export interface FairSemaphoreOptions {
  /** Maximum number of running pieces of work. */
  readonly slots: number
  /** Maximum slots of one key; default: all. */
  readonly perKey?: number
  /** Maximum waiters of one key; default: unlimited. */
  readonly waitingPerKey?: number
  /** Maximum waiters in total; default: unlimited. */
  readonly waiting?: number
  /** Longest wait before a waiter is rejected with `Busy`; default: unlimited. */
  readonly waitMs?: number
  /** When to retry after `Busy`; default 5. */
  readonly retryAfterSeconds?: number
  /** By name. A key with the prefix `name:` belongs to that group, all other keys to a group of their own. */
  readonly groups?: { readonly [name: string]: GroupBounds }
}

interface Waiter {
  readonly key: string
  begin(): void
  refuse(error: unknown): void
}

/** One group of keys. `waiting` is in round-robin order of the keys. */
interface Group {
  readonly bounds: GroupBounds
  readonly waiting: Map<string, Waiter[]>
  waiters: number
  running: number
}

/**
 * A semaphore with bounded queues. Groups are served round robin, and so are the keys of a group: a thousand waiters of one key
 * delay the only waiter of another by at most one piece of work.
 *
 * When the whole queue is full, a new waiter displaces the latest waiter of the key with the most waiters, so that a few keys
 * cannot fill the queue.
 */
export class FairSemaphore {
  readonly #options: FairSemaphoreOptions
  /** In round-robin order. */
  readonly #groups = new Map<string, Group>()
  readonly #runningOf = new Map<string, number>()
  #running = 0
  #waiting = 0
  #closedBy: Error | undefined

  constructor(options: FairSemaphoreOptions) {
    this.#options = options
    for (const [name, bounds] of [['', {}], ...Object.entries(options.groups ?? {})] as const)
      this.#groups.set(name, { bounds, waiting: new Map(), waiters: 0, running: 0 })
  }

  /** Number of running and waiting pieces of work. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting }
  }

  /**
   * Runs `work` in its turn, in the same tick if a slot is free. Throws `Busy`, and the reason of the signal if it is aborted
   * while waiting. Running work has to observe the signal itself.
   */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.#closedBy) throw this.#closedBy
    const [name, group] = this.#groupOf(key)
    if (this.#isFree(group, key)) this.#take(group, key)
    else await this.#wait(name, group, key, signal)
    try {
      return await work()
    } finally {
      this.#release(group, key)
    }
  }

  /** Rejects waiting and later work with `error`. Running work continues. */
  close(error: Error): void {
    this.#closedBy = error
    for (const group of this.#groups.values())
      for (const waiter of [...group.waiting.values()].flat()) this.#refuse(group, waiter, error)
  }

  async #wait(name: string, group: Group, key: string, signal?: AbortSignal): Promise<void> {
    this.#reserveWait(name, group, key)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { key, begin: resolve, refuse: reject }
    const waiters = group.waiting.get(key)
    if (waiters === undefined) group.waiting.set(key, [waiter])
    else waiters.push(waiter)
    group.waiters += 1
    this.#waiting += 1
    const abort = () => this.#refuse(group, waiter, signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    const { waitMs } = this.#options
    const timer =
      waitMs === undefined ? undefined : setTimeout(() => this.#refuse(group, waiter, this.#busy()), waitMs)
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Makes room for one more waiter, or throws Busy. */
  #reserveWait(name: string, group: Group, key: string): void {
    const { waitingPerKey = Number.POSITIVE_INFINITY, waiting = Number.POSITIVE_INFINITY } = this.#options
    const own = group.waiting.get(key)?.length ?? 0
    if (own >= waitingPerKey) throw this.#busy()
    if (group.waiters >= (group.bounds.waiting ?? Number.POSITIVE_INFINITY)) {
      this.#displace([group], own)
    } else if (this.#waiting >= waiting) {
      // Keys of a named group never displace waiters of other groups, because their number is unlimited.
      this.#displace(name === '' ? this.#groups.values() : [group], own)
    }
  }

  /** Rejects the latest waiter of the key with the most waiters. Throws Busy if that would not be fairer. */
  #displace(groups: Iterable<Group>, own: number): void {
    let longest: readonly [Group, Waiter[]] | undefined
    for (const group of groups)
      for (const waiters of group.waiting.values())
        if (waiters.length > (longest?.[1].length ?? own + 1)) longest = [group, waiters]
    const last = longest?.[1].at(-1)
    if (longest === undefined || last === undefined) throw this.#busy()
    this.#refuse(longest[0], last, this.#busy())
  }

  #refuse(group: Group, waiter: Waiter, error: unknown): void {
    const waiters = group.waiting.get(waiter.key)
    const index = waiters?.indexOf(waiter) ?? -1
    if (waiters === undefined || index < 0) return
    waiters.splice(index, 1)
    if (waiters.length === 0) group.waiting.delete(waiter.key)
    group.waiters -= 1
    this.#waiting -= 1
    waiter.refuse(error)
  }

  #release(group: Group, key: string): void {
    const running = (this.#runningOf.get(key) ?? 0) - 1
    if (running > 0) this.#runningOf.set(key, running)
    else this.#runningOf.delete(key)
    group.running -= 1
    this.#running -= 1
    while (this.#running < this.#options.slots && this.#beginNext());
  }

  /** Starts the first waiter of the first key and group with a free slot. The key and the group move to the end of the order. */
  #beginNext(): boolean {
    for (const [name, group] of this.#groups) {
      for (const [key, waiters] of group.waiting) {
        if (!this.#isFree(group, key)) continue
        const next = waiters.shift()
        group.waiting.delete(key)
        if (waiters.length > 0) group.waiting.set(key, waiters)
        this.#groups.delete(name)
        this.#groups.set(name, group)
        group.waiters -= 1
        this.#waiting -= 1
        this.#take(group, key)
        next?.begin()
        return true
      }
    }
    return false
  }

  #isFree(group: Group, key: string): boolean {
    const { slots, perKey = slots } = this.#options
    return (
      this.#running < slots &&
      group.running < (group.bounds.slots ?? slots) &&
      (this.#runningOf.get(key) ?? 0) < perKey
    )
  }

  #take(group: Group, key: string): void {
    this.#running += 1
    group.running += 1
    this.#runningOf.set(key, (this.#runningOf.get(key) ?? 0) + 1)
  }

  #groupOf(key: string): readonly [name: string, group: Group] {
    const name = key.slice(0, Math.max(key.indexOf(':'), 0))
    const group = this.#groups.get(name)
    if (group !== undefined) return [name, group]
    return ['', this.#groups.get('') as Group]
  }

  #busy(): Busy {
    return new Busy(this.#options.retryAfterSeconds ?? 5)
  }
}

/** For `catch`: turns a full queue into the fault `busy`. Other errors are rethrown. */
export function failIfBusy(error: unknown): never {
  if (error instanceof Busy) fail({ code: 'busy', seconds: error.retryAfterSeconds })
  throw error
}

/** Semaphore. Waiting callers are served in order. */
export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}

/** One mutex per key. Waiting callers of a key are served in order. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last.set(key, promise)
    await before
    try {
      return await work()
    } finally {
      resolve()
      if (this.#last.get(key) === promise) this.#last.delete(key)
    }
  }
}
