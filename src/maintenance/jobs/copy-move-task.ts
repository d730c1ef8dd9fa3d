import type { DirId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { CredentialOrigin } from '../../people/credentials/index.ts'
import type { LibraryKeys } from '../../sharing/access/index.ts'

/**
 * `removing` is a move whose copy is committed and whose originals are not deleted yet. It can no longer be
 * canceled. The last three states are final.
 */
export type TaskState = 'queued' | 'running' | 'removing' | 'successful' | 'failed' | 'canceled'

/** What is extracted of an archive. */
export interface Extraction {
  /** The folder of the archive that the names are in; empty for its top. */
  readonly base: readonly string[]
  /** Entries of that folder; all of it if there are none. */
  readonly names: readonly string[]
  /** The name of a new folder for everything. Without one, the entries go into the target folder itself. */
  readonly container?: string | undefined
}

/**
 * A task as requested: entries of one library are copied or moved into a folder of another, or those of an archive are extracted into a
 * folder of any library.
 */
export interface TaskOrder {
  /** The credential of the request. The task fails if it is revoked. */
  readonly origin: CredentialOrigin
  readonly operation: 'copy' | 'move' | 'extract'
  readonly source: LibraryKeys
  readonly parent: LibraryPath
  readonly names: readonly string[]
  readonly target: LibraryKeys
  readonly folder: LibraryPath
  /** Set exactly for `extract`, where the only name is that of the archive. */
  readonly extraction?: Extraction | undefined
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
