import type { CommitId, DirId, LibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'

/** The head of a library moved. */
export interface CommitLiveEvent {
  readonly kind: 'commit'
  readonly libraryKey: number
  readonly libraryId: LibraryId
  /** The new head. Commits in quick succession may be coalesced into one event for the last. */
  readonly commitId: CommitId
  readonly root: DirId
  /** The number of the new head. Missing in events of earlier versions. */
  readonly seq?: number
  /** The root before the first of the coalesced commits. Missing in events of earlier versions, and if it is not known. */
  readonly rootBefore?: DirId
  readonly author: string
  /** A visitor of a link made the last of them. */
  readonly viaLink?: boolean
  /** Unix seconds. */
  readonly at: number
}

/** A file was locked or unlocked. */
export interface LockLiveEvent {
  readonly kind: 'lock'
  readonly libraryKey: number
  readonly libraryId: LibraryId
  readonly path: LibraryPath
  /** The number of the head at that time. Missing in events of earlier versions. */
  readonly seq?: number
  readonly locked: boolean
  readonly author: string
}

/** A live event of a library. */
export type LibraryLiveEvent =
  | CommitLiveEvent
  | LockLiveEvent
  | {
      /** The comments or the tags of a file changed, or the tags of the library. */
      readonly kind: 'comment' | 'tag'
      readonly libraryKey: number
      readonly libraryId: LibraryId
      readonly path: LibraryPath
      /** The number of the head at that time. */
      readonly seq: number
      readonly author: string
    }

/** Progress of a copy, a move or an archive, in files. */
export interface TaskUpdate {
  readonly id: string
  readonly type: 'copy' | 'move' | 'extract' | 'archive'
  readonly state: 'queued' | 'running' | 'successful' | 'failed' | 'canceled'
  readonly done: number
  readonly total: number
  /** The id is a secret that must not be stored, not even sealed, so only streams of this node get the event. */
  readonly isUnstored?: true
}

/** A live event of an account. */
type AccountLiveEvent =
  /** The libraries that the account may read have changed. */
  | { readonly kind: 'access'; readonly accountKey: number }
  | { readonly kind: 'notification'; readonly accountKey: number; readonly id: number; readonly type: string }
  | { readonly kind: 'task'; readonly accountKey: number; readonly task: TaskUpdate }

export type LiveEvent = LibraryLiveEvent | AccountLiveEvent

export function isLibraryEvent(event: LiveEvent): event is LibraryLiveEvent {
  return 'libraryKey' in event
}

/** Ends a subscription. Idempotent. */
export type Unsubscribe = () => void

/**
 * Publish and subscribe for live events within a process. Listeners are called synchronously, in order, and
 * must neither throw nor block. Events of other processes arrive through the log (`live-log.ts`) within a
 * second.
 */
export interface EventHub {
  publish(event: LiveEvent): void
  /** Head moves and lock changes of these libraries, or of all. */
  subscribe(libraryKeys: Iterable<number> | 'all', listener: (event: LibraryLiveEvent) => void): Unsubscribe
  /** All events. */
  subscribeAll(listener: (event: LiveEvent) => void): Unsubscribe
}

/** The hub of one process. */
export class LocalEventHub implements EventHub {
  readonly #all = new Set<(event: LiveEvent) => void>()
  readonly #byLibrary = new Map<number, Set<(event: LibraryLiveEvent) => void>>()

  publish(event: LiveEvent): void {
    for (const listener of this.#all) listener(event)
    if (!isLibraryEvent(event)) return
    for (const listener of this.#byLibrary.get(event.libraryKey) ?? []) listener(event)
  }

  subscribe(libraryKeys: Iterable<number> | 'all', listener: (event: LibraryLiveEvent) => void): Unsubscribe {
    if (libraryKeys === 'all') {
      return this.subscribeAll((event) => {
        if (isLibraryEvent(event)) listener(event)
      })
    }
    const keys = new Set(libraryKeys)
    for (const key of keys) {
      const listeners = this.#byLibrary.get(key)
      if (listeners === undefined) this.#byLibrary.set(key, new Set([listener]))
      else listeners.add(listener)
    }
    return () => {
      for (const key of keys) {
        const listeners = this.#byLibrary.get(key)
        listeners?.delete(listener)
        if (listeners?.size === 0) this.#byLibrary.delete(key)
      }
    }
  }

  subscribeAll(listener: (event: LiveEvent) => void): Unsubscribe {
    // A wrapper, so that one listener may subscribe twice.
    const own = (event: LiveEvent) => listener(event)
    this.#all.add(own)
    return () => void this.#all.delete(own)
  }
}
