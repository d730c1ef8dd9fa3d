import { type LibraryPath, ROOT } from '../../base/paths/index.ts'
import type { Account, Accounts } from '../../people/accounts/index.ts'
import type { Access, Readable } from '../../sharing/access/index.ts'
import type { LibraryLiveEvent, LiveEvent } from './hub.ts'
import { seenInFolder } from './live-folder.ts'
import type { LoggedEvent } from './live-log.ts'
import type { LiveStream } from './live-stream.ts'
import { viewsOf } from './view.ts'

// Maximum delay after which unannounced access is noticed.
const FRESH_MS = 5000
const MAX_WAITING = 1000

/** An event as an account sees it. The stream decides at the last moment whether to send it. */
export interface LiveMessage {
  readonly id: number | undefined
  readonly event: LiveEvent
  /** The readable library through which the account sees it, and the path there; for library events only. */
  readonly view?: { readonly readable: Readable; readonly path: LibraryPath | undefined }
}

interface ViewerOptions {
  readonly account: Account
  readonly access: Access
  readonly accounts: Accounts
  /** Called with the libraries whose events are routed to the viewer. */
  readonly onViews: (viewer: LiveViewer, libraryKeys: ReadonlySet<number>) => void
  readonly onError: (error: unknown) => void
}

/**
 * An account with one or more live streams. It caches a routing table of the libraries the account can read.
 * The table decides which events are considered, never which are sent.
 */
export class LiveViewer {
  readonly streams = new Map<LiveStream, (message: LiveMessage) => string>()
  readonly #options: ViewerOptions
  #views: ReadonlyMap<number, readonly Readable[]> = new Map()
  #role: Account['role']
  #waiting: LoggedEvent[] = []
  #working = false
  #freshUntil = 0
  #refreshing: Promise<void> | undefined

  constructor(options: ViewerOptions) {
    this.#options = options
    this.#role = options.account.role
  }

  get accountKey(): number {
    return this.#options.account.key
  }

  /** Whether an event was received that is not queued in its streams yet. */
  get isBusy(): boolean {
    return this.#working
  }

  /** Queues an event in its streams, in order. */
  deliver(event: LoggedEvent): void {
    this.#waiting.push(event)
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting = []
      for (const stream of this.streams.keys()) stream.reset(event.id ?? stream.lastId)
    }
    if (!this.#working) void this.#work()
  }

  /** Receives the current role of the account. Another role gives access to other libraries. */
  updateRole(role: Account['role']): void {
    if (role === this.#role) return
    this.#role = role
    this.deliver({ id: undefined, event: { kind: 'access', accountKey: this.accountKey } })
  }

  /** Updates the routing table. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#lookUp().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** The event as the account sees it; empty if it does not. */
  async see({ id, event }: LoggedEvent): Promise<LiveMessage[]> {
    if ('accountKey' in event) return event.accountKey === this.accountKey ? [{ id, event }] : []
    if (performance.now() > this.#freshUntil) await this.refresh()
    const messages: LiveMessage[] = []
    for (const readable of this.#views.get(event.libraryKey) ?? []) {
      const seen = await this.#through(readable, event)
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
    // A new lookup, because a running one may have read before the change.
    if (event.kind === 'access') await this.#lookUp()
    const messages = await this.see(logged)
    for (const [stream, render] of this.streams) {
      if (stream.catchingUp) {
        stream.leftOut = Math.max(stream.leftOut, id ?? 0)
      } else if (id === undefined || id > stream.lastId) {
        if (id !== undefined) stream.lastId = id
        for (const message of messages) stream.push(render(message), message)
      }
    }
  }

  /** Undefined if the event is outside of what the library shows. */
  async #through(
    { id, base }: Readable,
    event: LibraryLiveEvent,
  ): Promise<{ path: LibraryPath | undefined } | undefined> {
    if (base === ROOT) return { path: 'path' in event ? event.path : undefined }
    const { access, accounts } = this.#options
    const user = await accounts.findByKey(this.accountKey)
    const library = user && (await access.openAll(user, [id])).get(id)
    return library && seenInFolder(library, event)
  }

  async #lookUp(): Promise<void> {
    const { access, accounts, onViews } = this.#options
    const user = await accounts.findByKey(this.accountKey)
    this.#views = viewsOf(user?.active ? await access.listReadable(user) : [])
    this.#freshUntil = performance.now() + FRESH_MS
    onViews(this, new Set(this.#views.keys()))
  }
}
