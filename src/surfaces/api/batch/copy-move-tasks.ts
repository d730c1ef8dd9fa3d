import type { LibraryPath } from '../../../base/paths/index.ts'
import type { Selection } from '../../../libraries/edits/index.ts'
import type { Library } from '../../../libraries/library/index.ts'

/** Copies and moves between libraries, and extractions of archives, in the background. Implemented by `jobs`, started and polled by the web API. */
export interface CopyMoveTasks {
  /**
   * Starts copying or moving entries into another library and returns the id of the task. Throws password-needed,
   * path-not-found, and locked for a move.
   */
  start(
    operation: 'copy' | 'move',
    source: Library,
    selection: Selection,
    target: Library,
    folder: LibraryPath,
  ): Promise<string>
  /**
   * Starts extracting entries of an archive into a folder and returns the id of the task. Throws password-needed, path-not-found.
   */
  extract(
    source: Library,
    archive: LibraryPath,
    extraction: {
      readonly base: readonly string[]
      readonly names: readonly string[]
      readonly container?: string | undefined
    },
    target: Library,
    folder: LibraryPath,
  ): Promise<string>
  /** Undefined for an unknown task, or one that ended more than an hour ago. */
  progressOf(account: { readonly key: number }, id: string): Promise<CopyMoveProgress | undefined>
  /** False if it is too late; true also for an unknown task. */
  cancel(account: { readonly key: number }, id: string): Promise<boolean>
  /** The number of queued and running tasks of all accounts. */
  countUnfinished(): Promise<{ queued: number; running: number }>
}

/** In files. */
export interface CopyMoveProgress {
  readonly state: 'queued' | 'running' | 'removing' | 'successful' | 'failed' | 'canceled'
  readonly done: number
  readonly total: number
  /** Empty unless it failed. */
  readonly failedReason: string
}
