import type { Access } from '../access/index.ts'
import type { Database } from '../database/index.ts'
import { fail } from '../errors.ts'
import type { Account, Accounts } from '../identity/index.ts'
import type { LibraryCore } from '../library/index.ts'
import { type EventHub, isLibraryEvent } from './hub.ts'
import { listEventsAfter, oldestEventId } from './live-event-store.ts'
import { LiveLog, type LoggedEvent } from './live-log.ts'
import { LiveStream, type WaitingText } from './live-stream.ts'
import { type LiveMessage, LiveViewer } from './live-viewer.ts'

/** How many connections an account may have open. */
export const MOST_STREAMS = 100
const HEARTBEAT_MS = 15_000
// How often streams whose credential has ended are looked for. Nothing is sent on one in the meantime either.
const CHECK_MS = 5000
const CHECKS_AT_ONCE = 50
const EVENTS_A_PAGE = 200

export interface LiveStreamsOptions {
  readonly core: LibraryCore
  readonly db: Database
  readonly access: Access
  readonly accounts: Accounts
  readonly hub: EventHub
  /** Unix seconds. */
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** How a client is spoken to, and where it was. */
export interface StreamWish {
  /** The last number it has; undefined begins with now, null asks for a reset. */
  readonly since: number | null | undefined
  readonly render: (message: LiveMessage) => string
  /** The words a stream begins with. */
  readonly ready: (id: number) => string
  readonly reset: (id: number) => string
  /** What keeps a silent connection open, and moves its number on. */
  readonly alive: (id: number) => string
  /** The account its credential authenticates now; undefined once the credential has ended. Never a cached answer. */
  readonly identify: () => Promise<Account | undefined>
}

/** Everyone who watches live, over one log. */
export class LiveStreams implements AsyncDisposable {
  readonly log: LiveLog
  readonly #options: LiveStreamsOptions
  readonly #viewers = new Map<number, LiveViewer>()
  readonly #watching = new Map<number, Set<LiveViewer>>()
  readonly #seen = new Map<LiveViewer, ReadonlySet<number>>()
  readonly #wishes = new Map<LiveStream, { wish: StreamWish; viewer: LiveViewer }>()
  #heartbeat: NodeJS.Timeout | undefined
  #checking: NodeJS.Timeout | undefined
  #isChecking = false
  #closed = false

  constructor(options: LiveStreamsOptions) {
    this.#options = options
    const { db, hub, now, onError } = options
    this.log = new LiveLog({
      db,
      hub,
      now,
      onEvents: (events) => this.#pass(events),
      onLost: () => this.#resetAll(),
      onError,
    })
  }

  async start(): Promise<void> {
    await this.log.start()
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref()
    this.#checking = setInterval(() => void this.checkAll(), CHECK_MS).unref()
  }

  get count(): number {
    return this.#wishes.size
  }

  /** Throws too-many-streams. */
  async open(account: Account, wish: StreamWish): Promise<LiveStream> {
    const viewer = this.#viewers.get(account.key) ?? this.#newViewer(account)
    if (viewer.streams.size >= MOST_STREAMS) fail({ code: 'too-many-streams', limit: MOST_STREAMS })
    const stream = new LiveStream({
      reset: wish.reset,
      authorize: (texts) => this.#authorized(wish, texts),
      onEnd: (ended) => this.#forget(ended),
      onError: this.#options.onError,
    })
    viewer.streams.set(stream, wish.render)
    this.#wishes.set(stream, { wish, viewer })
    if (this.#closed) stream.end()
    try {
      await viewer.refresh()
      await this.#begin(stream, wish)
    } catch (error) {
      stream.end()
      throw error
    }
    if (stream.catchingUp) void this.#catchUp(stream, viewer, wish)
    return stream
  }

  /** Ends every stream, so that the server can close; clients come back to another. */
  endAll(): void {
    this.#closed = true
    clearInterval(this.#heartbeat)
    clearInterval(this.#checking)
    for (const stream of this.#wishes.keys()) stream.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endAll()
    await this.log.stop()
  }

  /** Says where the stream stands; it is left catching up if there is something to catch up with. */
  async #begin(stream: LiveStream, { since, ready }: StreamWish): Promise<void> {
    const { last } = this.log
    const oldest = (await oldestEventId(this.#options.db)) ?? last + 1
    const isKnown = since !== null && since !== undefined && since <= this.log.last && since >= oldest - 1
    stream.lastId = isKnown ? since : last
    if (since === undefined || isKnown) stream.push(ready(stream.lastId))
    else stream.reset(last)
    if (!isKnown) stream.catchingUp = stream.leftOut > stream.lastId
  }

  /** Gives a stream what it missed, no faster than it is taken. */
  async #catchUp(stream: LiveStream, viewer: LiveViewer, { render }: StreamWish): Promise<void> {
    const { db, onError } = this.#options
    try {
      while (!stream.isEnded) {
        const page = await listEventsAfter(db, stream.lastId, EVENTS_A_PAGE)
        for (const logged of page) {
          const messages = await viewer.see(logged)
          stream.lastId = logged.id
          for (const message of messages) stream.push(render(message), message)
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
    const { access, accounts, core, onError } = this.#options
    const viewer = new LiveViewer({
      account,
      access,
      accounts,
      core,
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
        for (const viewer of this.#watching.get(event.libraryKey) ?? []) viewer.tell(logged)
      } else this.#viewers.get(event.accountKey)?.tell(logged)
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

  #forget(stream: LiveStream): void {
    const viewer = this.#wishes.get(stream)?.viewer
    this.#wishes.delete(stream)
    viewer?.streams.delete(stream)
    if (viewer === undefined || viewer.streams.size > 0) return
    for (const key of this.#seen.get(viewer) ?? []) this.#unwatch(viewer, key)
    this.#seen.delete(viewer)
    if (this.#viewers.get(viewer.accountKey) === viewer) this.#viewers.delete(viewer.accountKey)
  }

  #resetAll(): void {
    for (const stream of this.#wishes.keys()) stream.reset(this.log.last)
  }

  #beat(): void {
    for (const [stream, { wish, viewer }] of this.#wishes) {
      if (stream.isIdle && !stream.catchingUp) {
        // Nothing of what happened meanwhile was for it, so it need not go through that when it comes back.
        if (!viewer.isBusy) stream.lastId = this.log.last
        stream.push(wish.alive(stream.lastId))
      }
    }
  }

  /** Ends the streams whose credential has ended, and updates what those are routed whose role changed. */
  async checkAll(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    try {
      const open = [...this.#wishes]
      for (let start = 0; start < open.length; start += CHECKS_AT_ONCE) {
        const some = open.slice(start, start + CHECKS_AT_ONCE)
        await Promise.all(some.map(([stream, { wish, viewer }]) => this.#check(stream, wish, viewer)))
      }
    } finally {
      this.#isChecking = false
    }
  }

  async #check(stream: LiveStream, { identify }: StreamWish, viewer: LiveViewer): Promise<void> {
    try {
      const user = await identify()
      if (user === undefined) stream.cut()
      else viewer.noteRole(user.role)
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /** The one decision about what a stream is sent: by its credential, its account and the libraries as they are now. */
  async #authorized(
    { identify }: StreamWish,
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
