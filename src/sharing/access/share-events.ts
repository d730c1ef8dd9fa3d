import type { LibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { Actor } from '../../libraries/library/index.ts'
import type { Group } from '../../people/accounts/index.ts'
import type { Transaction } from '../../platform/database/index.ts'

/** A share that was created, changed or revoked. */
export interface ShareEvent {
  readonly kind: 'created' | 'changed' | 'ended'
  readonly by: Actor
  /** The shared library or sub-library, as its grantees see it. */
  readonly library: { readonly id: LibraryId; readonly name: string }
  /** The root for a library. For a folder only its name, because the folders above are not shared. */
  readonly path: LibraryPath
  /** The permission on the wire; empty if the share was revoked. */
  readonly permission: string
  /** Whether it waits for the grantee to accept it. */
  readonly isHeld: boolean
  readonly group: Group | undefined
  /** The grantees, direct or through the group. Empty for a share with everyone. */
  readonly accountKeys: readonly number[]
}

/** Records a share event in the transaction of the change. */
export type ShareRecorder = (tx: Transaction, event: ShareEvent) => Promise<void>
