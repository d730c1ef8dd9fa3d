import { WebSocket } from 'ws'
import { parseOutsideJson } from '../../base/json.ts'
import { type LibraryId, parseLibraryId } from '../../base/objects/index.ts'
import type { Listening, NotificationTokens } from './notification-tokens.ts'

const MAX_LIBRARIES = 1000
const MAX_WAITING_MESSAGES = 200
const MAX_BUFFERED_BYTES = 2 ** 20
// Every event is checked before it is sent. The recheck tells a silent client that its right has ended.
const RECHECK_MS = 60_000
const MAX_UNSENT = 1000
// A client without subscriptions is disconnected after this time.
const SILENT_MS = 300_000
const DEAD_MS = 10_000

const POLICY_VIOLATION = 1008

/** The services that a listener uses. */
export interface ListenerContext {
  readonly tokens: NotificationTokens
  /** Whether the sync token behind it still opens the library. Decided anew on each call. */
  readonly mayRead: (listening: Listening) => Promise<boolean>
  readonly onSubscribed: (listener: Listener, library: LibraryId) => void
  readonly onUnsubscribed: (listener: Listener, library: LibraryId) => void
  readonly onError: (error: unknown) => void
}

interface Subscription {
  readonly listening: Listening
  checkedAt: number
}

/** A queued event of a library. */
interface Unsent {
  readonly library: LibraryId
  readonly text: string
}

/** One connected client and its subscriptions. */
export class Listener {
  readonly #socket: WebSocket
  readonly #context: ListenerContext
  readonly #subscriptions = new Map<LibraryId, Subscription>()
  #work: Promise<void> = Promise.resolve()
  #unsent: Unsent[] = []
  #isDelivering = false
  #waiting = 0
  #seenAt = performance.now()
  #emptySince: number | undefined = performance.now()

  constructor(socket: WebSocket, context: ListenerContext) {
    this.#socket = socket
    this.#context = context
    socket.on('pong', () => this.#seen())
    socket.on('ping', () => this.#seen())
    socket.on('message', (data, isBinary) => {
      this.#seen()
      if (isBinary) this.#refuse('text is expected')
      else this.#enqueue((data as Buffer).toString('utf8'))
    })
    socket.on('error', () => socket.terminate())
  }

  /** Sends an event of a library, in order, if the client may still read that library. */
  deliver(library: LibraryId, text: string): void {
    if (this.#unsent.length >= MAX_UNSENT) return this.#socket.terminate()
    this.#unsent.push({ library, text })
    if (!this.#isDelivering) void this.#deliverAll()
  }

  /** Each library of a batch is checked once, after all events of the batch have happened. */
  async #deliverAll(): Promise<void> {
    this.#isDelivering = true
    try {
      while (this.#unsent.length > 0) {
        const batch = this.#unsent.splice(0)
        for (const library of new Set(batch.map((one) => one.library))) await this.#recheck(library)
        for (const { library, text } of batch) if (this.#subscriptions.has(library)) this.#send(text)
      }
    } catch (error) {
      // Nothing is sent unchecked. The client reconnects and subscribes again.
      this.#context.onError(error)
      this.#socket.terminate()
    } finally {
      this.#isDelivering = false
    }
  }

  /** Sends a message, unless the client does not read (backpressure). */
  #send(message: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) this.#socket.terminate()
    else this.#socket.send(message)
  }

  /** Called every second: sends keep-alives and closes dead connections. */
  tick(): void {
    const now = performance.now()
    const isDead = now - this.#seenAt > DEAD_MS
    const isSilent = this.#emptySince !== undefined && now - this.#emptySince > SILENT_MS
    if (isDead || isSilent) this.#socket.terminate()
    else if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping()
  }

  /** Unsubscribes the client from libraries it may not read any more. */
  recheck(): void {
    const now = performance.now()
    for (const [library, subscription] of this.#subscriptions) {
      if (now - subscription.checkedAt < RECHECK_MS) continue
      subscription.checkedAt = now
      this.#run(() => this.#recheck(library))
    }
  }

  async #recheck(library: LibraryId): Promise<void> {
    const subscription = this.#subscriptions.get(library)
    if (subscription === undefined || (await this.#isAllowed(subscription.listening))) return
    // Subscribed again meanwhile, with a token of its own.
    if (this.#subscriptions.get(library) !== subscription) return this.#recheck(library)
    this.#drop(library)
    this.#send(message('jwt-expired', { repo_id: library }))
  }

  async #isAllowed(listening: Listening): Promise<boolean> {
    const { tokens, mayRead } = this.#context
    return !tokens.isExpired(listening) && (await mayRead(listening))
  }

  /** Called when the connection is gone. */
  closed(): void {
    for (const library of this.#subscriptions.keys()) this.#context.onUnsubscribed(this, library)
    this.#subscriptions.clear()
  }

  /** Ends the connection because the server stops. */
  goAway(): void {
    this.#socket.close(1001, 'going away')
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #seen(): void {
    this.#seenAt = performance.now()
  }

  #enqueue(text: string): void {
    if (this.#waiting >= MAX_WAITING_MESSAGES) return this.#refuse('too many messages')
    return this.#run(() => this.#take(text))
  }

  #run(work: () => Promise<void>): void {
    this.#waiting += 1
    this.#work = this.#work
      .then(work)
      .catch((error: unknown) => this.#context.onError(error))
      .finally(() => {
        this.#waiting -= 1
      })
  }

  async #take(text: string): Promise<void> {
    const { type, repos } = parse(text)
    if (repos === undefined || (type !== 'subscribe' && type !== 'unsubscribe')) {
      return this.#refuse('unknown message')
    }
    for (const { id, jwt_token: token } of repos) {
      const library = typeof id === 'string' ? parseLibraryId(id) : undefined
      if (library === undefined) return this.#refuse('invalid library id')
      if (type === 'unsubscribe') this.#drop(library)
      else await this.#subscribe(library, typeof token === 'string' ? token : '')
    }
  }

  async #subscribe(library: LibraryId, token: string): Promise<void> {
    const listening = this.#context.tokens.read(token)
    if (listening?.libraryId !== library || !(await this.#context.mayRead(listening))) {
      return this.#send(message('jwt-expired', { repo_id: library }))
    }
    if (this.#socket.readyState !== WebSocket.OPEN) return
    if (this.#subscriptions.size >= MAX_LIBRARIES && !this.#subscriptions.has(library)) {
      return this.#refuse('too many libraries')
    }
    this.#subscriptions.set(library, { listening, checkedAt: performance.now() })
    this.#emptySince = undefined
    this.#context.onSubscribed(this, library)
  }

  #drop(library: LibraryId): void {
    if (!this.#subscriptions.delete(library)) return
    this.#context.onUnsubscribed(this, library)
    if (this.#subscriptions.size === 0) this.#emptySince = performance.now()
  }

  #refuse(reason: string): void {
    this.#socket.close(POLICY_VIOLATION, reason)
  }
}

/** A message of the notification protocol. */
export function message(type: string, content: object): string {
  return JSON.stringify({ type, content })
}

type Json = Record<string, unknown>

function parse(text: string): { type?: unknown; repos?: Json[] } {
  try {
    const { type, content } = asJson(parseOutsideJson(text, { depth: 10 }))
    const { repos } = asJson(content)
    return Array.isArray(repos) ? { type, repos: repos.map(asJson) } : { type }
  } catch {
    return {}
  }
}

function asJson(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
