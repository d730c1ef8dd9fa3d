import type { Database } from '../database/index.ts'
import type { EventHub, LiveEvent, Unsubscribe } from './hub.ts'
import { appendEvents, deleteEvents, lastEventId, listEventsAfter } from './live-event-store.ts'

/** How many events are kept for those who come back, and for how long. */
export const EVENTS_KEPT = 20_000
const KEPT_SECONDS = 7 * 86_400
// What happens in quick succession is written together.
const GATHER_MS = 50
// How late, at most, events of other processes come.
const POLL_MS = 1000
const MOST_GATHERED = 10_000
const TRIM_EVERY = 1000
const MOST_AT_ONCE = 2000

/** An event on its way out; without a number if it is not kept. */
export interface LoggedEvent {
  readonly id: number | undefined
  readonly event: LiveEvent
}

export interface LiveLogOptions {
  readonly db: Database
  readonly hub: EventHub
  /** Unix seconds. */
  readonly now: () => number
  /** Given what happened, in order. */
  readonly onEvents: (events: readonly LoggedEvent[]) => void
  /** Too much happened at once: whoever listens must look at everything anew. */
  readonly onLost: () => void
  readonly onError: (error: unknown) => void
}

/**
 * Numbers live events and keeps them for a while, so that a client can go on where it was cut off. The log is also
 * how processes hear of each other: each looks for rows it did not write and puts them into its hub. A database
 * that can call (LISTEN) only has to call `poll`.
 */
export class LiveLog {
  readonly #options: LiveLogOptions
  readonly #gathered = new Map<string, LiveEvent>()
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

  /** The number of the last event that was given out. */
  get last(): number {
    return this.#last
  }

  async start(): Promise<void> {
    this.#last = await lastEventId(this.#options.db)
    this.#trimmedAt = this.#last
    this.#unsubscribe = this.#options.hub.subscribeAll((event) => this.#gather(event))
    this.#polling = setInterval(() => void this.poll(), POLL_MS).unref()
  }

  /** Looks for events of other processes. */
  poll(): Promise<void> {
    return this.#work(async () => {
      const last = await lastEventId(this.#options.db)
      if (last > this.#last) await this.#relay(last)
    })
  }

  /** Resolves once all that was published is given out. */
  async settled(): Promise<void> {
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    await this.#flush()
  }

  /** A maintenance job. */
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

  #gather(event: LiveEvent): void {
    if (this.#relaying || this.#stopped) return
    // Of the heads of a library, and of the steps of a task, the last is enough.
    const key = sameness(event) ?? `${this.#count++}`
    const earlier = this.#gathered.get(key)
    this.#gathered.delete(key)
    this.#gathered.set(key, earlier === undefined ? event : merged(earlier, event))
    if (this.#gathered.size > MOST_GATHERED) {
      this.#gathered.clear()
      this.#options.onLost()
    }
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined
      void this.#flush()
    }, GATHER_MS).unref()
  }

  #flush(): Promise<void> {
    return this.#work(async () => {
      if (this.#gathered.size === 0) return
      const events = [...this.#gathered.values()]
      this.#gathered.clear()
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

  /** Gives out what other processes wrote, up to a number. */
  async #relay(upTo: number): Promise<void> {
    while (this.#last < upTo) {
      const found = await listEventsAfter(this.#options.db, this.#last, MOST_AT_ONCE)
      const events = found.filter(({ id }) => id <= upTo)
      // Gone already: it was very much, or very long ago.
      if (events.length === 0 || upTo - this.#last > EVENTS_KEPT) {
        this.#last = upTo
        this.#options.onLost()
        return
      }
      this.#last = events.at(-1)?.id ?? upTo
      this.#relaying = true
      for (const { event } of events) this.#options.hub.publish(event)
      this.#relaying = false
      this.#options.onEvents(events)
    }
  }

  async #trim(): Promise<void> {
    if (this.#last - this.#trimmedAt < TRIM_EVERY) return
    this.#trimmedAt = this.#last
    await this.deleteOld()
  }

  /** One after another; what fails is reported, and does not stop the next. */
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

function sameness(event: LiveEvent): string | undefined {
  switch (event.kind) {
    case 'commit':
      return `commit ${event.libraryKey}`
    case 'access':
      return `access ${event.accountKey}`
    case 'task':
      return `task ${event.task.id}`
    case 'lock':
    case 'notification':
      return undefined
  }
}

/** The later of two events stands for both: of commits, it tells what changed since before the first. */
function merged(earlier: LiveEvent, later: LiveEvent): LiveEvent {
  if (earlier.kind !== 'commit' || later.kind !== 'commit' || earlier.rootBefore === undefined) return later
  return { ...later, rootBefore: earlier.rootBefore }
}

/** The steps of a task are over when somebody comes back, and the id of an archive is a secret. */
function isKept(event: LiveEvent): boolean {
  if (event.kind !== 'task') return true
  const { state, type } = event.task
  return type !== 'archive' && state !== 'queued' && state !== 'running'
}
