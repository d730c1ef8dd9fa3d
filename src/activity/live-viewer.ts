import type { Access } from '../access/access.ts'
import type { Readable } from '../access/readable.ts'
import type { Account } from '../identity/account.ts'
import type { LibraryCore } from '../library/core.ts'
import { Tree } from '../library/tree.ts'
import { isWithin, type LibraryPath, ROOT } from '../objects/paths.ts'
import type { LibraryLiveEvent, LiveEvent } from './hub.ts'
import type { LoggedEvent } from './live-log.ts'
import type { LiveStream } from './live-stream.ts'
import { viewsOf } from './view.ts'

// A grant that changed without anybody saying so is noticed this late.
const FRESH_MS = 5000
const MOST_WAITING = 1000

/** What a client is told: an event as its account sees it. */
export interface LiveMessage {
  readonly id: number | undefined
  readonly event: LiveEvent
  /** Through which of its libraries the account sees it, and the path there; only with events of libraries. */
  readonly view?: { readonly readable: Readable; readonly path: LibraryPath | undefined }
}

export interface ViewerOptions {
  readonly account: Account
  readonly access: Access
  readonly core: LibraryCore
  /** Told which libraries it sees now. */
  readonly onViews: (viewer: LiveViewer, libraryKeys: ReadonlySet<number>) => void
  readonly onError: (error: unknown) => void
}

/** An account that watches live, with one connection or several. */
export class LiveViewer {
  readonly streams = new Map<LiveStream, (message: LiveMessage) => string>()
  readonly #options: ViewerOptions
  #views: ReadonlyMap<number, readonly Readable[]> = new Map()
  /** The folder behind each view as it was last told of. */
  readonly #folders = new Map<string, string>()
  #waiting: LoggedEvent[] = []
  #working = false
  #freshUntil = 0
  #refreshing: Promise<void> | undefined

  constructor(options: ViewerOptions) {
    this.#options = options
  }

  get account(): Account {
    return this.#options.account
  }

  /** Whether it has been told of something its streams were not told of yet. */
  get isBusy(): boolean {
    return this.#working
  }

  /** Has its streams told of something that happened, in order. */
  tell(event: LoggedEvent): void {
    this.#waiting.push(event)
    if (this.#waiting.length > MOST_WAITING) {
      this.#waiting = []
      for (const stream of this.streams.keys()) stream.reset(event.id ?? stream.lastId)
    }
    if (!this.#working) void this.#work()
  }

  /** Looks up what the account may read now. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#lookUp().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** How the account sees an event; nothing if it does not. `isOver` is something from before it came. */
  async see({ id, event }: LoggedEvent, isOver: boolean): Promise<LiveMessage[]> {
    if ('accountKey' in event) return event.accountKey === this.account.key ? [{ id, event }] : []
    if (performance.now() > this.#freshUntil) await this.refresh()
    const messages: LiveMessage[] = []
    for (const readable of this.#views.get(event.libraryKey) ?? []) {
      const seen = await this.#through(readable, event, isOver)
      if (seen !== undefined) messages.push({ id, event, view: { readable, path: seen.path } })
    }
    return messages
  }

  async #work(): Promise<void> {
    this.#working = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await this.#pass(next)
      } catch (error) {
        this.#options.onError(error)
      }
    }
    this.#working = false
  }

  async #pass(logged: LoggedEvent): Promise<void> {
    const { id, event } = logged
    // A new refresh: one under way may have looked before the change.
    if (event.kind === 'access') await this.#lookUp()
    const messages = await this.see(logged, false)
    for (const [stream, render] of this.streams) {
      if (stream.catchingUp) {
        stream.leftOut = Math.max(stream.leftOut, id ?? 0)
      } else if (id === undefined || id > stream.lastId) {
        if (id !== undefined) stream.lastId = id
        for (const message of messages) stream.push(render(message))
      }
    }
  }

  /** Undefined if the event is not about what is below the readable's folder. */
  async #through(
    { id, base }: Readable,
    event: LibraryLiveEvent,
    isOver: boolean,
  ): Promise<{ path: LibraryPath | undefined } | undefined> {
    if (event.kind === 'lock') {
      if (base === ROOT) return { path: event.path }
      const isSeen = isWithin(event.path, base) && event.path !== base
      return isSeen ? { path: event.path.slice(base.length) as LibraryPath } : undefined
    }
    if (base === ROOT || isOver) return { path: undefined }
    const { core } = this.#options
    const folder = await new Tree(core.objects, event.libraryKey, event.root).find(base)
    const changed = folder !== undefined && this.#folders.get(id) !== folder.id
    if (folder !== undefined) this.#folders.set(id, folder.id)
    return changed ? { path: undefined } : undefined
  }

  async #lookUp(): Promise<void> {
    const { access, account, onViews } = this.#options
    const readable = await access.listReadable(account)
    this.#views = viewsOf(readable)
    this.#freshUntil = performance.now() + FRESH_MS
    onViews(this, new Set(this.#views.keys()))
  }
}
