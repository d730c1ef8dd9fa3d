import type { LibraryInfo } from '../commits/index.ts'
import type { Transaction } from '../database/index.ts'
import type { LibraryPath } from '../objects/index.ts'
import type { Actor } from './library.ts'

interface Happened<Kind extends string> {
  readonly kind: Kind
  readonly library: LibraryInfo
  readonly actor: Actor
}

/** Something that happened to a library and that no commit tells of. */
export type LibraryEvent =
  | Happened<'created'>
  | Happened<'deleted'>
  | Happened<'restored'>
  | (Happened<'transferred'> & { readonly to: Actor })
  /** What is newer than `days` was spared. */
  | (Happened<'trash-emptied'> & { readonly days: number })
  | (Happened<'locked'> & { readonly path: LibraryPath })
  | (Happened<'unlocked'> & { readonly path: LibraryPath })

/** Tells the rooms above what happens to libraries, so that the core need not know them. */
export class LibraryEvents {
  readonly #recorders: ((tx: Transaction, event: LibraryEvent) => Promise<void>)[] = []
  readonly #listeners: ((event: LibraryEvent) => void)[] = []
  readonly #purgeListeners: ((libraryKey: number) => void)[] = []

  /** Has `record` write what must be kept of each event, in the transaction of what happened. */
  onRecord(record: (tx: Transaction, event: LibraryEvent) => Promise<void>): void {
    this.#recorders.push(record)
  }

  /** Has `listener` called with each event once others can see what happened. It must not throw. */
  onEvent(listener: (event: LibraryEvent) => void): void {
    this.#listeners.push(listener)
  }

  /** Has `listener` called with the key of each library this process purged, once it is gone. It must not throw. */
  onPurged(listener: (libraryKey: number) => void): void {
    this.#purgeListeners.push(listener)
  }

  purged(libraryKey: number): void {
    for (const listener of this.#purgeListeners) listener(libraryKey)
  }

  /** For whoever makes something happen: called in the transaction it happens in. */
  async record(tx: Transaction, event: LibraryEvent): Promise<void> {
    for (const record of this.#recorders) await record(tx, event)
    tx.afterCommit(() => {
      for (const listener of this.#listeners) listener(event)
    })
  }
}
