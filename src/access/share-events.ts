import type { Transaction } from '../database/index.ts'
import type { Group } from '../identity/index.ts'
import type { Actor } from '../library/index.ts'
import type { LibraryId, LibraryPath } from '../objects/index.ts'

/** A share that was made, changed or ended. */
export interface ShareEvent {
  readonly kind: 'made' | 'changed' | 'ended'
  readonly by: Actor
  /** What it is on, as those it is shared with open it. */
  readonly library: { readonly id: LibraryId; readonly name: string }
  /** The root for a library. Of a folder no more than its name: what is above is not shared. */
  readonly path: LibraryPath
  /** What it gives, on the wire; empty if it ended. */
  readonly permission: string
  readonly group: Group | undefined
  /** Those it is shared with, themselves or through the group. Nobody is named for everyone. */
  readonly accountKeys: readonly number[]
}

/** Writes what must be kept of an event, in the transaction of what happened. */
export type ShareRecorder = (tx: Transaction, event: ShareEvent) => Promise<void>
