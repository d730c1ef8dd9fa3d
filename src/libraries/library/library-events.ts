import type { LibraryPath } from '../../base/paths/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import type { Actor } from './library.ts'

interface EventOf<Kind extends string> {
  readonly kind: Kind
  readonly library: LibraryInfo
  readonly actor: Actor
}

/** A change of a library without a commit. */
export type LibraryEvent =
  | EventOf<'created'>
  | EventOf<'deleted'>
  | EventOf<'restored'>
  | (EventOf<'transferred'> & { readonly to: Actor })
  /** Entries deleted in the last `days` days were kept. */
  | (EventOf<'trash-emptied'> & { readonly days: number })
  | (EventOf<'locked'> & { readonly path: LibraryPath })
  | (EventOf<'unlocked'> & { readonly path: LibraryPath })

/** Notifies higher modules of what happens to libraries, without importing them. */
export class LibraryEvents {
  readonly #recorders: ((tx: Transaction, event: LibraryEvent) => Promise<void>)[] = []
  readonly #listeners: ((event: LibraryEvent) => void)[] = []
  readonly #purgeListeners: ((libraryKey: number) => void)[] = []

  /** Registers a function that writes rows for each event, in the transaction of the event. */
  onRecord(record: (tx: Transaction, event: LibraryEvent) => Promise<void>): void {
    this.#recorders.push(record)
  }

  /** Registers a listener that is called after the event is committed. It must not throw. */
  onEvent(listener: (event: LibraryEvent) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Registers a listener that is called with the key of each library this process has purged. It must not
   * throw.
   */
  onPurged(listener: (libraryKey: number) => void): void {
    this.#purgeListeners.push(listener)
  }

  purged(libraryKey: number): void {
    for (const listener of this.#purgeListeners) listener(libraryKey)
  }

  /** Called in the transaction of the event. */
  async record(tx: Transaction, event: LibraryEvent): Promise<void> {
    for (const record of this.#recorders) await record(tx, event)
    tx.afterCommit(() => {
      for (const listener of this.#listeners) listener(event)
    })
  }
}
