import { fail } from '../../base/errors.ts'
import type { Account, Accounts } from '../../people/accounts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { Sealing, type ServerSecret } from '../../platform/secret/index.ts'
import type { Access } from '../../sharing/access/index.ts'
import { HeadOrder } from './head-order.ts'
import { type EventHub, isLibraryEvent, type LibraryLiveEvent } from './hub.ts'
import { listEventsAfter, oldestEventId } from './live-event-store.ts'
import { LiveLog, type LoggedEvent } from './live-log.ts'
import { LiveStream, type WaitingText } from './live-stream.ts'
import { type LiveMessage, LiveViewer } from './live-viewer.ts'
import { isProgress, TaskEvents } from './task-events.ts'

/** Maximum of concurrent streams per account. */
export const MAX_STREAMS = 100
const HEARTBEAT_MS = 15_000
// Interval of the search for streams with an invalid credential. In between, nothing is sent on them either.
const CHECK_MS = 5000
const CHECKS_AT_ONCE = 50
const EVENTS_PER_PAGE = 200

interface LiveStreamsOptions {
  readonly db: Database
  readonly access: Access
  readonly accounts: Accounts
  readonly hub: EventHub
  readonly secret: ServerSecret
  /** Unix seconds. */
  readonly now: () => number
  /** Called with each event of a library, of all processes, in order. */
  readonly onLibraryEvent: (event: LibraryLiveEvent) => void
  /** Called when events were lost, because there were too many. */
  readonly onLost: () => void
  readonly onError: (error: unknown) => void
}

/** Options of a stream: the client's position and message format. */
interface StreamOptions {
  /** The last received number; undefined starts now, null requests a reset. */
  readonly since: number | null | undefined
  readonly render: (message: LiveMessage) => string
  /** Formats the first message of a stream. */
  readonly ready: (id: number) => string
  readonly reset: (id: number) => string
  /** Formats a heartbeat, which keeps an idle connection open and advances its number. */
  readonly alive: (id: number) => string
  /** The account of the credential; undefined once it is invalid. Never cached. */
  readonly identify: () => Promise<Account | undefined>
}

/** All live streams of the server, fed by one log. */
export class LiveStreams implements AsyncDisposable {
  readonly log: LiveLog
  readonly #options: LiveStreamsOptions
  readonly #tasks: TaskEvents
  readonly #viewers = new Map<number, LiveViewer>()
  readonly #watching = new Map<number, Set<LiveViewer>>()
  readonly #seen = new Map<LiveViewer, ReadonlySet<number>>()
  readonly #open = new Map<LiveStream, { options: StreamOptions; viewer: LiveViewer }>()
  #heartbeat: NodeJS.Timeout | undefined
  #checking: NodeJS.Timeout | undefined
  #isChecking = false
  #closed = false

  constructor(options: LiveStreamsOptions) {
    this.#options = options
    const { db, hub, now, onError } = options
    this.#tasks = new TaskEvents(new Sealing(options.secret, 'live events'), db.isShared)
    this.log = new LiveLog({
      db,
      hub,
      now,
      tasks: this.#tasks,
      onEvents: (events) => this.#pass(events),
      onLost: () => {
        this.#resetAll()
        options.onLost()
      },
      onError,
    })
  }

  async start(): Promise<void> {
    await this.log.start()
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref()
    this.#checking = setInterval(() => void this.checkAll(), CHECK_MS).unref()
  }

  get count(): number {
    return this.#open.size
  }

  /** Throws too-many-streams. */
  async open(account: Account, options: StreamOptions): Promise<LiveStream> {
    const viewer = this.#viewers.get(account.key) ?? this.#newViewer(account)
    if (viewer.streams.size >= MAX_STREAMS) fail({ code: 'too-many-streams', limit: MAX_STREAMS })
    const stream = new LiveStream({
      reset: options.reset,
      authorize: (texts) => this.#authorized(options, texts),
      onEnd: (ended) => this.#remove(ended),
      onError: this.#options.onError,
    })
    viewer.streams.set(stream, options.render)
    this.#open.set(stream, { options, viewer })
    if (this.#closed) stream.end()
    try {
      await viewer.refresh()
      await this.#begin(stream, options)
    } catch (error) {
      stream.end()
      throw error
    }
    if (stream.catchingUp) void this.#catchUp(stream, viewer, options)
    return stream
  }

  /** Ends every stream, so that the server can close. Clients reconnect. */
  endAll(): void {
    this.#closed = true
    clearInterval(this.#heartbeat)
    clearInterval(this.#checking)
    for (const stream of this.#open.keys()) stream.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endAll()
    await this.log.stop()
  }

  /** Sends the initial position. The stream stays in catch-up mode if there are missed events. */
  async #begin(stream: LiveStream, { since, ready }: StreamOptions): Promise<void> {
    const { last } = this.log
    const oldest = (await oldestEventId(this.#options.db)) ?? last + 1
    const isKnown = since !== null && since !== undefined && since <= this.log.last && since >= oldest - 1
    stream.lastId = isKnown ? since : last
    if (since === undefined || isKnown) stream.push(ready(stream.lastId))
    else stream.reset(last)
    if (!isKnown) stream.catchingUp = stream.leftOut > stream.lastId
  }

  /** Sends missed events, as fast as the client reads them (backpressure). */
  async #catchUp(stream: LiveStream, viewer: LiveViewer, { render }: StreamOptions): Promise<void> {
    const { db, onError } = this.#options
    const heads = new HeadOrder()
    try {
      while (!stream.isEnded) {
        const page = await listEventsAfter(db, stream.lastId, EVENTS_PER_PAGE)
        for (const { id, event: stored } of page) {
          const event = isProgress(stored) ? undefined : this.#tasks.opened(stored)
          const messages = event && (await viewer.see({ id, event: heads.next(event) }))
          stream.lastId = id
          for (const message of messages ?? []) stream.push(render(message), message)
        }
        if (page.length === 0 && stream.leftOut <= stream.lastId) break
        await stream.taken()
      }
      stream.catchingUp = false
    } catch (error) {
      stream.end()
      onError(error)
    }
  }

  #newViewer(account: Account): LiveViewer {
    const { access, accounts, onError } = this.#options
    const viewer = new LiveViewer({
      account,
      access,
      accounts,
      onViews: (one, keys) => this.#watch(one, keys),
      onError,
    })
    this.#viewers.set(account.key, viewer)
    return viewer
  }

  #pass(events: readonly LoggedEvent[]): void {
    for (const logged of events) {
      const { event } = logged
      if (isLibraryEvent(event)) {
        this.#options.onLibraryEvent(event)
        for (const viewer of this.#watching.get(event.libraryKey) ?? []) viewer.deliver(logged)
      } else this.#viewers.get(event.accountKey)?.deliver(logged)
    }
  }

  #watch(viewer: LiveViewer, keys: ReadonlySet<number>): void {
    const before = this.#seen.get(viewer) ?? new Set()
    for (const key of before.difference(keys)) this.#unwatch(viewer, key)
    if (viewer.streams.size === 0) return
    for (const key of keys) {
      const viewers = this.#watching.get(key)
      if (viewers === undefined) this.#watching.set(key, new Set([viewer]))
      else viewers.add(viewer)
    }
    this.#seen.set(viewer, keys)
  }

  #unwatch(viewer: LiveViewer, key: number): void {
    const viewers = this.#watching.get(key)
    viewers?.delete(viewer)
    if (viewers?.size === 0) this.#watching.delete(key)
  }

  #remove(stream: LiveStream): void {
    const viewer = this.#open.get(stream)?.viewer
    this.#open.delete(stream)
    viewer?.streams.delete(stream)
    if (viewer === undefined || viewer.streams.size > 0) return
    for (const key of this.#seen.get(viewer) ?? []) this.#unwatch(viewer, key)
    this.#seen.delete(viewer)
    if (this.#viewers.get(viewer.accountKey) === viewer) this.#viewers.delete(viewer.accountKey)
  }

  #resetAll(): void {
    for (const stream of this.#open.keys()) stream.reset(this.log.last)
  }

  #beat(): void {
    for (const [stream, { options, viewer }] of this.#open) {
      if (stream.isIdle && !stream.catchingUp) {
        // No event since then concerned the client, so it can resume here.
        if (!viewer.isBusy) stream.lastId = this.log.last
        stream.push(options.alive(stream.lastId))
      }
    }
  }

  /** Ends streams with an invalid credential, and updates the routing of accounts whose role changed. */
  async checkAll(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    try {
      const open = [...this.#open]
      for (let start = 0; start < open.length; start += CHECKS_AT_ONCE) {
        const some = open.slice(start, start + CHECKS_AT_ONCE)
        await Promise.all(some.map(([stream, { options, viewer }]) => this.#check(stream, options, viewer)))
      }
    } finally {
      this.#isChecking = false
    }
  }

  async #check(stream: LiveStream, { identify }: StreamOptions, viewer: LiveViewer): Promise<void> {
    try {
      const user = await identify()
      if (user === undefined) stream.cut()
      else viewer.updateRole(user.role)
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /**
   * The only decision about what a stream is sent, by the current state of its credential, account and
   * libraries.
   */
  async #authorized(
    { identify }: StreamOptions,
    texts: readonly WaitingText[],
  ): Promise<readonly WaitingText[] | undefined> {
    const user = await identify()
    if (user === undefined) return undefined
    const ids = new Set(texts.flatMap(({ message }) => message?.view?.readable.id ?? []))
    if (ids.size === 0) return texts
    const readable = await this.#options.access.openAll(user, [...ids])
    return texts.filter(({ message }) => {
      const id = message?.view?.readable.id
      return id === undefined || readable.has(id)
    })
  }
}
