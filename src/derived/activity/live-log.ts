import type { Companion, CompanionRows } from '../../libraries/consumers/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { HeadOrder } from './head-order.ts'
import type { CommitLiveEvent, EventHub, LiveEvent, LockLiveEvent, Unsubscribe } from './hub.ts'
import {
  appendEvents,
  deleteEvents,
  insertEvent,
  insertEvents,
  lastEventId,
  listEventsAfter,
} from './live-event-store.ts'
import type { TaskEvents } from './task-events.ts'

/** Number of events kept for reconnecting clients, and their maximum age. */
export const EVENTS_KEPT = 20_000
const KEPT_SECONDS = 7 * 86_400
// Debounce: events in quick succession are written together.
const DEBOUNCE_MS = 50
// Events of commits are written with the rows that are derived from the commits, unless those take longer.
const COMMITS_MS = 100
// Maximum delay of events of other processes.
const POLL_MS = 1000
// Every node has logged its commits after this time, unless it died.
const UNLOGGED_SECONDS = 5
const MAX_PENDING = 10_000
const TRIM_EVERY = 1000
const MAX_AT_ONCE = 2000

/** An event to be sent; without a number if it is not stored. */
export interface LoggedEvent {
  readonly id: number | undefined
  readonly event: LiveEvent
}

interface LiveLogOptions {
  readonly db: Database
  readonly hub: EventHub
  /** Unix seconds. */
  readonly now: () => number
  readonly tasks: TaskEvents
  /** Called with the events of all processes, in order. */
  readonly onEvents: (events: readonly LoggedEvent[]) => void
  /** Called when events were lost, because there were too many. All clients must reload. */
  readonly onLost: () => void
  readonly onError: (error: unknown) => void
}

/**
 * Numbers live events and stores them for a while, so that a client can resume after a disconnect. The log
 * also connects processes: each polls for rows it did not write and publishes them in its hub. A database
 * with notifications (LISTEN) only has to call `poll`.
 */
export class LiveLog implements Companion {
  readonly #options: LiveLogOptions
  readonly #pending = new Map<string, LiveEvent>()
  readonly #heads = new HeadOrder()
  #unsubscribe: Unsubscribe | undefined
  #gathering: NodeJS.Timeout | undefined
  #gatheringUntil = 0
  /** Events that are being written with the rows of their commits. */
  readonly #taken = new Set<Promise<unknown>>()
  #polling: NodeJS.Timeout | undefined
  #working: Promise<void> = Promise.resolve()
  #relaying = false
  #stopped = false
  #count = 0
  #last = 0
  #trimmedAt = 0

  constructor(options: LiveLogOptions) {
    this.#options = options
  }

  get db(): Database {
    return this.#options.db
  }

  /** The number of the last published event. */
  get last(): number {
    return this.#last
  }

  async start(): Promise<void> {
    this.#last = await lastEventId(this.#options.db)
    this.#trimmedAt = this.#last
    this.#unsubscribe = this.#options.hub.subscribeAll((event) => this.#enqueue(event))
    this.#polling = setInterval(() => void this.poll(), POLL_MS).unref()
  }

  /**
   * Logs the change of a lock in its transaction, so that locks are logged in the order in which they changed, whichever node did it. The head that
   * the lock was set on goes before it, if that may not be logged yet.
   */
  async recordLock(tx: Transaction, lock: LockLiveEvent, head: CommitLiveEvent): Promise<void> {
    const { now } = this.#options
    const key = coalescingKey(head) ?? ''
    const pending = this.#pending.get(key)
    const isLogged =
      (this.#heads.seqOf(head.libraryKey) ?? -1) >= (head.seq ?? 0) || now() - head.at > UNLOGGED_SECONDS
    const before = pending ?? (isLogged ? undefined : head)
    await insertEvents(tx, this.#options.db.dialect, before === undefined ? [lock] : [before, lock], now())
    tx.afterCommit(() => {
      if (pending !== undefined && this.#pending.get(key) === pending) this.#pending.delete(key)
      if (this.#unsubscribe !== undefined) void this.poll()
    })
  }

  /** Takes the live event of the commits of a library, which is written in the transaction of their derived rows. */
  take(libraryKey: number): CompanionRows | undefined {
    const key = `commit ${libraryKey}`
    const event = this.#pending.get(key)
    if (event === undefined || this.#stopped) return undefined
    this.#pending.delete(key)
    const ended = Promise.withResolvers<void>()
    this.#taken.add(ended.promise)
    let id = 0
    return {
      write: async (tx) => {
        id = await insertEvent(tx, this.db.dialect, event, this.#options.now())
      },
      onEnded: (isWritten) => {
        if (isWritten) void this.#publish(id, event)
        else this.#holdAgain(new Map([[key, event]]), 0)
        this.#taken.delete(ended.promise)
        ended.resolve()
      },
    }
  }

  /** What would be derived from commits is not yet: their events do not wait. */
  onDelay(): void {
    if (this.#pending.size > 0) void this.settled()
  }

  /** Publishes logged events: those of other processes, and those that were logged in a transaction. */
  poll(): Promise<void> {
    return this.#work(async () => {
      const last = await lastEventId(this.#options.db)
      if (last > this.#last) await this.#relay(last)
    })
  }

  /** Resolves once all published events are written and sent. */
  async settled(): Promise<void> {
    await Promise.all(this.#taken)
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    await this.#flush()
  }

  /** Maintenance. */
  deleteOld(): Promise<number> {
    const { db, now } = this.#options
    return deleteEvents(db, { upTo: this.#last - EVENTS_KEPT, before: now() - KEPT_SECONDS })
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    clearInterval(this.#polling)
    await this.settled()
    this.#stopped = true
  }

  #enqueue(event: LiveEvent): void {
    if (this.#relaying || this.#stopped) return
    this.#hold(coalescingKey(event) ?? `${this.#count++}`, event)
    this.#gather(event.kind === 'commit' ? COMMITS_MS : DEBOUNCE_MS)
  }

  /** For heads of a library, and progress of a task, the last event replaces earlier ones. */
  #hold(key: string, event: LiveEvent): void {
    const earlier = this.#pending.get(key)
    this.#pending.delete(key)
    this.#pending.set(key, earlier === undefined ? event : merged(earlier, event))
    if (this.#pending.size <= MAX_PENDING) return
    this.#pending.clear()
    this.#options.onLost()
  }

  #gather(afterMs: number): void {
    const until = performance.now() + afterMs
    if (this.#gathering !== undefined && this.#gatheringUntil <= until) return
    clearTimeout(this.#gathering)
    this.#gatheringUntil = until
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined
      void this.#flush()
    }, afterMs).unref()
  }

  #flush(): Promise<void> {
    return this.#work(async () => {
      if (this.#pending.size === 0) return
      const taken = new Map(this.#pending)
      this.#pending.clear()
      const events = [...taken.values()]
      const { tasks, now } = this.#options
      const kept = new Set(events.filter((event) => tasks.isLogged(event, now())))
      let id = this.#last
      if (kept.size > 0) {
        const last = await this.#append(taken, [...kept])
        id = last - kept.size
        await this.#relay(id)
        this.#last = last
      }
      this.#pass(events.map((event) => ({ id: kept.has(event) ? ++id : undefined, event })))
      await this.#trim()
    })
  }

  /** Writes events, and returns the number of the last. If that fails, all that were taken wait for another attempt. */
  async #append(taken: ReadonlyMap<string, LiveEvent>, kept: readonly LiveEvent[]): Promise<number> {
    try {
      const { db, tasks, now } = this.#options
      const stored = kept.map((event) => tasks.sealed(event))
      return await appendEvents(db, stored, now())
    } catch (error) {
      this.#holdAgain(taken, POLL_MS)
      throw error
    }
  }

  /** Puts events back that could not be written. */
  #holdAgain(taken: ReadonlyMap<string, LiveEvent>, afterMs: number): void {
    const newer = new Map(this.#pending)
    this.#pending.clear()
    for (const [key, event] of [...taken, ...newer]) this.#hold(key, event)
    this.#gather(afterMs)
  }

  /** Passes on an event that was written, after those before it. */
  #publish(id: number, event: LiveEvent): Promise<void> {
    return this.#work(async () => {
      // It was read from the log meanwhile.
      if (id <= this.#last) return
      await this.#relay(id - 1)
      this.#last = id
      this.#pass([{ id, event }])
      await this.#trim()
    })
  }

  #pass(events: readonly LoggedEvent[]): void {
    this.#options.onEvents(events.map(({ id, event }) => ({ id, event: this.#heads.next(event) })))
  }

  /** Publishes logged events that were not passed on yet, up to a number. */
  async #relay(upTo: number): Promise<void> {
    while (this.#last < upTo) {
      const found = await listEventsAfter(this.#options.db, this.#last, MAX_AT_ONCE)
      const events = found.filter(({ id }) => id <= upTo)
      // Already deleted: too many, or too old.
      if (events.length === 0 || upTo - this.#last > EVENTS_KEPT) {
        this.#last = upTo
        this.#options.onLost()
        return
      }
      this.#last = events.at(-1)?.id ?? upTo
      const { hub, tasks } = this.#options
      const opened = events.flatMap(({ id, event: stored }) => {
        const event = tasks.opened(stored)
        return event === undefined ? [] : [{ id, event }]
      })
      this.#relaying = true
      for (const { event } of opened) hub.publish(event)
      this.#relaying = false
      this.#pass(opened)
    }
  }

  async #trim(): Promise<void> {
    if (this.#last - this.#trimmedAt < TRIM_EVERY) return
    this.#trimmedAt = this.#last
    await this.deleteOld()
  }

  /** Serializes work. A failure is reported and does not affect later work. */
  #work(work: () => Promise<void>): Promise<void> {
    this.#working = this.#workAfter(this.#working, work)
    return this.#working
  }

  async #workAfter(before: Promise<void>, work: () => Promise<void>): Promise<void> {
    await before
    if (this.#stopped) return
    try {
      await work()
    } catch (error) {
      this.#options.onError(error)
    }
  }
}

function coalescingKey(event: LiveEvent): string | undefined {
  switch (event.kind) {
    case 'commit':
      return `commit ${event.libraryKey}`
    case 'access':
      return `access ${event.accountKey}`
    case 'task':
      return `task ${event.task.id}`
    case 'lock':
    case 'comment':
    case 'tag':
    case 'notification':
      return undefined
  }
}

/** Coalesces two events. For commits, the result keeps the root before the first. */
function merged(earlier: LiveEvent, later: LiveEvent): LiveEvent {
  if (earlier.kind !== 'commit' || later.kind !== 'commit' || earlier.rootBefore === undefined) return later
  return { ...later, rootBefore: earlier.rootBefore }
}
