import type { Database } from '../database/index.ts'
import type { EventHub, LiveEvent, Unsubscribe } from './hub.ts'
import { appendEvents, deleteEvents, lastEventId, listEventsAfter } from './live-event-store.ts'

/** Number of events kept for reconnecting clients, and their maximum age. */
export const EVENTS_KEPT = 20_000
const KEPT_SECONDS = 7 * 86_400
// Debounce: events in quick succession are written together.
const DEBOUNCE_MS = 50
// Maximum delay of events of other processes.
const POLL_MS = 1000
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
  /** Called with events in order. */
  readonly onEvents: (events: readonly LoggedEvent[]) => void
  /** Called with each event of another process. */
  readonly onRelayed: (event: LiveEvent) => void
  /** Called when events were lost, because there were too many. All clients must reload. */
  readonly onLost: () => void
  readonly onError: (error: unknown) => void
}

/**
 * Numbers live events and stores them for a while, so that a client can resume after a disconnect. The log
 * also connects processes: each polls for rows it did not write and publishes them in its hub. A database
 * with notifications (LISTEN) only has to call `poll`.
 */
export class LiveLog {
  readonly #options: LiveLogOptions
  readonly #pending = new Map<string, LiveEvent>()
  #unsubscribe: Unsubscribe | undefined
  #gathering: NodeJS.Timeout | undefined
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

  /** Reads events of other processes. */
  poll(): Promise<void> {
    return this.#work(async () => {
      const last = await lastEventId(this.#options.db)
      if (last > this.#last) await this.#relay(last)
    })
  }

  /** Resolves once all published events are written and sent. */
  async settled(): Promise<void> {
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
    // For heads of a library, and progress of a task, the last event replaces earlier ones.
    const key = coalescingKey(event) ?? `${this.#count++}`
    const earlier = this.#pending.get(key)
    this.#pending.delete(key)
    this.#pending.set(key, earlier === undefined ? event : merged(earlier, event))
    if (this.#pending.size > MAX_PENDING) {
      this.#pending.clear()
      this.#options.onLost()
    }
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined
      void this.#flush()
    }, DEBOUNCE_MS).unref()
  }

  #flush(): Promise<void> {
    return this.#work(async () => {
      if (this.#pending.size === 0) return
      const events = [...this.#pending.values()]
      this.#pending.clear()
      const kept = events.filter(isKept)
      let id = this.#last
      if (kept.length > 0) {
        const last = await appendEvents(this.#options.db, kept, this.#options.now())
        id = last - kept.length
        await this.#relay(id)
        this.#last = last
      }
      this.#options.onEvents(events.map((event) => ({ id: isKept(event) ? ++id : undefined, event })))
      await this.#trim()
    })
  }

  /** Publishes events of other processes, up to a number. */
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
      this.#relaying = true
      for (const { event } of events) {
        this.#options.hub.publish(event)
        this.#options.onRelayed(event)
      }
      this.#relaying = false
      this.#options.onEvents(events)
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

/** Progress of a task is obsolete after a reconnect, and the id of an archive is a secret. */
function isKept(event: LiveEvent): boolean {
  if (event.kind !== 'task') return true
  const { state, type } = event.task
  return type !== 'archive' && state !== 'queued' && state !== 'running'
}
