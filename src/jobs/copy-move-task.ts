import type { LibraryKeys } from '../access/index.ts'
import type { CredentialOrigin } from '../identity/index.ts'
import type { DirId, LibraryPath } from '../objects/index.ts'

/**
 * `removing` is a move whose copy can be seen and whose originals are still to go: from there it can only
 * go on. The last three are final.
 */
export type TaskState = 'queued' | 'running' | 'removing' | 'successful' | 'failed' | 'canceled'

/** What a task is to do: entries of one library are copied or moved into a folder of another. */
export interface TaskOrder {
  /** What it was ordered with: it fails if that ends first. */
  readonly origin: CredentialOrigin
  readonly operation: 'copy' | 'move'
  readonly source: LibraryKeys
  readonly parent: LibraryPath
  readonly names: readonly string[]
  readonly target: LibraryKeys
  readonly folder: LibraryPath
}

/** A task in the hands of whoever carries it out. */
export interface ClaimedTask extends TaskOrder {
  readonly id: string
  readonly claim: string
  readonly state: 'running' | 'removing'
  /** The tree that is copied; undefined until the task was begun. */
  readonly sourceRoot: DirId | undefined
  readonly total: number
}

/** How far a task is, in files. */
export interface TaskProgress {
  readonly state: TaskState
  readonly done: number
  readonly total: number
  /** Empty unless it failed. */
  readonly failedReason: string
}
