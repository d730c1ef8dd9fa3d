/** Nobody waits longer for this now: a queue is full, or a waiter reached its deadline. Says nothing about the work itself. */
export class Busy extends Error {
  override readonly name = 'Busy'
  readonly retryAfterSeconds: number

  constructor(retryAfterSeconds: number) {
    super(`Too much is waiting. Try again in ${retryAfterSeconds} s.`)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Bounds of the keys that share a prefix. */
interface GroupBounds {
  /** Slots they may hold together. */
  readonly slots?: number
  /** How many of them may wait together. */
  readonly waiting?: number
}

export interface FairSemaphoreOptions {
  /** What runs at once. */
  readonly slots: number
  /** What runs at once for one key; all slots unless given. */
  readonly perKey?: number
  /** What may wait for one key; without bound unless given. */
  readonly waitingPerKey?: number
  /** What may wait in all; without bound unless given. */
  readonly waiting?: number
  /** How long one may wait before it is answered with `Busy`; for ever unless given. */
  readonly waitMs?: number
  /** When to try again after `Busy`; 5 unless given. */
  readonly retryAfterSeconds?: number
  /** By name. A key belongs to the group whose name and a colon it begins with, all others to one more group. */
  readonly groups?: { readonly [name: string]: GroupBounds }
}

interface Waiter {
  readonly key: string
  begin(): void
  refuse(error: unknown): void
}

/** One group of keys. `waiting` is in the order in which the keys have their turn. */
interface Group {
  readonly bounds: GroupBounds
  readonly waiting: Map<string, Waiter[]>
  waiters: number
  running: number
}

/**
 * A semaphore with bounded queues. Groups of keys take turns, and within a group its keys do: a thousand waiters of one key delay
 * the only one of another by one piece of work at most.
 *
 * When the whole queue is full, a newcomer takes the place of the latest waiter of the key that has most of them, so that
 * a few keys cannot fill the queue for all others.
 */
export class FairSemaphore {
  readonly #options: FairSemaphoreOptions
  /** In the order in which they have their turn. */
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

  /** How much runs and how much waits. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting }
  }

  /**
   * Runs `work` in its turn; at once and in the same tick if a slot is free. Throws `Busy`, and the reason of the
   * signal while it waits: what runs has to mind the signal itself.
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

  /** Refuses what waits and what comes later with `error`. What runs goes on. */
  close(error: Error): void {
    this.#closedBy = error
    for (const group of this.#groups.values())
      for (const waiter of [...group.waiting.values()].flat()) this.#refuse(group, waiter, error)
  }

  async #wait(name: string, group: Group, key: string, signal?: AbortSignal): Promise<void> {
    this.#makeRoom(name, group, key)
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

  /** Throws Busy if there is no room for one more waiter. */
  #makeRoom(name: string, group: Group, key: string): void {
    const { waitingPerKey = Number.POSITIVE_INFINITY, waiting = Number.POSITIVE_INFINITY } = this.#options
    const own = group.waiting.get(key)?.length ?? 0
    if (own >= waitingPerKey) throw this.#busy()
    if (group.waiters >= (group.bounds.waiting ?? Number.POSITIVE_INFINITY)) {
      this.#displace([group], own)
    } else if (this.#waiting >= waiting) {
      // Keys of a bounded group never displace those of another: there may be any number of them.
      this.#displace(name === '' ? this.#groups.values() : [group], own)
    }
  }

  /** Refuses the latest waiter of the key with the most waiters; throws Busy if that would be no fairer. */
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

  /** The first waiter of the first key of the first group that has a slot left. All three then go to the end of their line. */
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
