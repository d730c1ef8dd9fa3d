import type { Library, Selection } from '../../library/index.ts'
import type { LibraryPath } from '../../objects/index.ts'

/** Copies and moves between libraries outside of a request. The jobs have them; the web API starts and watches them. */
export interface CopyMoveTasks {
  /**
   * Has entries copied or moved into another library; gives the id of the task. Throws password-needed,
   * path-not-found, and for a move locked.
   */
  start(
    operation: 'copy' | 'move',
    source: Library,
    selection: Selection,
    target: Library,
    folder: LibraryPath,
  ): Promise<string>
  /** Undefined for a task the account does not have, or that ended more than an hour ago. */
  progressOf(account: { readonly key: number }, id: string): Promise<CopyMoveProgress | undefined>
  /** False if it is too late; true also for a task the account does not have. */
  cancel(account: { readonly key: number }, id: string): Promise<boolean>
  /** How many of everybody's wait, and how many are carried out. */
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
