import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import type { CommitId, DirId, LibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { type LibraryCore, viewHeads } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import type { RequestHead } from '../../platform/http/index.ts'
import { Listener, type ListenerContext, message } from './listener.ts'

/** Where clients connect to. */
export const NOTIFICATION_PATH = '/notification'

const LARGEST_MESSAGE = 64 * 1024
const MAX_LISTENERS = 20_000
const TICK_MS = 1000
const TICKS_PER_RECHECK = 10
const GOODBYE_MS = 1000

interface NotificationOptions extends Pick<ListenerContext, 'tokens' | 'mayRead' | 'onError'> {
  readonly core: LibraryCore
  /** Calls the listener with the changes of libraries at all nodes, each library's in the order in which they happened. */
  readonly onLibraryEvent: (listener: (event: LibraryChange) => void) => void
}

/** A change of a library. Comments and tags are ignored. */
type LibraryChange = { readonly libraryKey: number; readonly libraryId: LibraryId } & (
  | { readonly kind: 'commit'; readonly commitId: CommitId; readonly rootBefore?: DirId }
  | {
      readonly kind: 'lock'
      readonly path: LibraryPath
      readonly locked: boolean
      readonly author: string
    }
  | { readonly kind: 'comment' | 'tag' }
)

/** Notifies connected sync clients of changes of the libraries they subscribed to. Other clients poll. */
export class Notifications implements AsyncDisposable {
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LARGEST_MESSAGE,
    perMessageDeflate: false,
  })
  readonly #listeners = new Set<Listener>()
  readonly #byLibrary = new Map<LibraryId, Set<Listener>>()
  /** The last notified heads of subscribed libraries and folders. */
  readonly #heads = new Map<LibraryId, CommitId>()
  #folders: Promise<void> = Promise.resolve()
  readonly #context: ListenerContext
  readonly #timer: NodeJS.Timeout
  #ticks = 0

  constructor({ core, onLibraryEvent, ...options }: NotificationOptions) {
    this.#context = {
      ...options,
      onSubscribed: (listener, library) => this.#add(listener, library),
      onUnsubscribed: (listener, library) => this.#remove(listener, library),
    }
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref()
    onLibraryEvent((event) => {
      if (this.#byLibrary.size === 0) return
      const { libraryKey, libraryId } = event
      if (event.kind === 'lock') {
        this.#announceLock(libraryId, event.path, event.locked ? 'locked' : 'unlocked', event.author)
      }
      if (event.kind !== 'commit') return
      this.#announceCommit(libraryId, event.commitId)
      // One after the other, so that the heads of a folder are read in order.
      this.#folders = this.#folders
        .then(() => this.#announceFolders(core, libraryKey, event.rootBefore))
        .catch(options.onError)
    })
  }

  /** Accepts an Upgrade request to WebSocket. */
  take(head: RequestHead, socket: Socket, rest: Buffer): void {
    if (this.#listeners.size >= MAX_LISTENERS) {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      return
    }
    // `ws` reads only the method and the headers of the request.
    const request = {
      method: head.method,
      url: head.url,
      headers: head.headers.all,
      socket,
    } as IncomingMessage
    this.#sockets.handleUpgrade(request, socket, rest, (client) => {
      const listener = new Listener(client, this.#context)
      this.#listeners.add(listener)
      client.once('close', () => {
        listener.closed()
        this.#listeners.delete(listener)
      })
    })
  }

  /** Ends every connection. Clients connect again. */
  endAll(): void {
    for (const listener of this.#listeners) listener.goAway()
  }

  /** Closes all connections; those that do not respond within a second are terminated. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#sockets.close()
    this.endAll()
    const cutOff = Date.now() + GOODBYE_MS
    while (this.#listeners.size > 0 && Date.now() < cutOff) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    for (const listener of this.#listeners) listener.terminate()
  }

  #announceLock(id: LibraryId, path: LibraryPath, change: 'locked' | 'unlocked', email: string): void {
    this.#announce(id, 'file-lock-changed', () => ({
      repo_id: id,
      path: path.slice(1),
      change_event: change,
      lock_user: email,
    }))
  }

  /** A commit may be logged twice, if the node that made it was about to log it. */
  #announceCommit(id: LibraryId, head: CommitId): void {
    if (!this.#byLibrary.has(id) || this.#heads.get(id) === head) return
    this.#heads.set(id, head)
    this.#announceHead({ id, head })
  }

  #announceHead({ id, head }: Pick<LibraryInfo, 'id' | 'head'>): void {
    this.#announce(id, 'repo-update', () => ({ repo_id: id, commit_id: head }))
  }

  /** Notifies subscribers of folders (views) of a library, if the folder changed. */
  async #announceFolders(core: LibraryCore, libraryKey: number, before: DirId | undefined): Promise<void> {
    for (const now of await viewHeads(core, libraryKey, (id) => this.#byLibrary.has(id))) {
      const known = this.#heads.get(now.id)
      this.#heads.set(now.id, now.head)
      // Changes outside the folder are not sent, nor is the state at the time of the subscription.
      const isUnchanged =
        known === undefined ? before !== undefined && (await now.isAsIn(before)) : known === now.head
      if (!isUnchanged) this.#announceHead(now)
    }
  }

  #announce(library: LibraryId, type: string, content: () => object): void {
    const listeners = this.#byLibrary.get(library)
    if (listeners === undefined) return
    const text = message(type, content())
    for (const listener of listeners) listener.deliver(library, text)
  }

  #add(listener: Listener, library: LibraryId): void {
    const listeners = this.#byLibrary.get(library)
    if (listeners === undefined) this.#byLibrary.set(library, new Set([listener]))
    else listeners.add(listener)
  }

  #remove(listener: Listener, library: LibraryId): void {
    const listeners = this.#byLibrary.get(library)
    listeners?.delete(listener)
    if (listeners?.size !== 0) return
    this.#byLibrary.delete(library)
    this.#heads.delete(library)
  }

  #tick(): void {
    this.#ticks += 1
    const isRecheck = this.#ticks % TICKS_PER_RECHECK === 0
    for (const listener of this.#listeners) {
      listener.tick()
      if (isRecheck) listener.recheck()
    }
  }
}
