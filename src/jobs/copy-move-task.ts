import type { LibraryKeys } from '../access/index.ts'
import type { CredentialOrigin } from '../identity/index.ts'
import type { DirId, LibraryPath } from '../objects/index.ts'

/**
 * `removing` is a move whose copy is committed and whose originals are not deleted yet. It can no longer be
 * canceled. The last three states are final.
 */
export type TaskState = 'queued' | 'running' | 'removing' | 'successful' | 'failed' | 'canceled'

/** A task as requested: entries of one library are copied or moved into a folder of another. */
export interface TaskOrder {
  /** The credential of the request. The task fails if it is revoked. */
  readonly origin: CredentialOrigin
  readonly operation: 'copy' | 'move'
  readonly source: LibraryKeys
  readonly parent: LibraryPath
  readonly names: readonly string[]
  readonly target: LibraryKeys
  readonly folder: LibraryPath
}

/** A task claimed by a process that runs it. */
export interface ClaimedTask extends TaskOrder {
  readonly id: string
  readonly claim: string
  readonly state: 'running' | 'removing'
  /** The tree that is copied; undefined until the task has begun. */
  readonly sourceRoot: DirId | undefined
  readonly total: number
}

/** Progress of a task in files. */
export interface TaskProgress {
  readonly state: TaskState
  readonly done: number
  readonly total: number
  /** Empty unless it failed. */
  readonly failedReason: string
}
