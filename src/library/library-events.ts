import type { Transaction } from '../database/database.ts'
import type { LibraryPath } from '../objects/paths.ts'
import type { Actor } from './library.ts'
import type { LibraryInfo } from './library-info.ts'

/** Something that happened to a library and that no commit tells of. */
export type LibraryEvent =
  | {
      readonly kind: 'created' | 'deleted' | 'restored'
      readonly library: LibraryInfo
      readonly actor: Actor
    }
  | {
      readonly kind: 'transferred'
      readonly library: LibraryInfo
      readonly actor: Actor
      readonly to: Actor
    }
  | {
      readonly kind: 'trash-emptied'
      readonly library: LibraryInfo
      readonly actor: Actor
      /** What is newer than this many days was spared. */
      readonly days: number
    }
  | {
      readonly kind: 'locked' | 'unlocked'
      readonly library: LibraryInfo
      readonly actor: Actor
      readonly path: LibraryPath
    }

/** Tells the rooms above what happens to libraries, so that the core need not know them. */
export class LibraryEvents {
  readonly #recorders: ((tx: Transaction, event: LibraryEvent) => Promise<void>)[] = []
  readonly #listeners: ((event: LibraryEvent) => void)[] = []

  /** Has `record` write what must be kept of each event, in the transaction of what happened. */
  onRecord(record: (tx: Transaction, event: LibraryEvent) => Promise<void>): void {
    this.#recorders.push(record)
  }

  /** Has `listener` called with each event once others can see what happened. It must not throw. */
  onEvent(listener: (event: LibraryEvent) => void): void {
    this.#listeners.push(listener)
  }

  /** For whoever makes something happen: called in the transaction it happens in. */
  async record(tx: Transaction, event: LibraryEvent): Promise<void> {
    for (const record of this.#recorders) await record(tx, event)
    tx.afterCommit(() => {
      for (const listener of this.#listeners) listener(event)
    })
  }
}
