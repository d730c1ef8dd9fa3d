/** A lock that this process has, until it releases it or ends. */
export interface GrantedLock {
  /** Whether no process had or wanted another lock when this one was granted. */
  wasFree(name: string): boolean
  release(): void
}

interface LockOptions {
  /** How long to wait before it rejects. */
  readonly timeoutMs: number
  /** Another lock. If it is held at the time of the request, this one is granted after its release. */
  readonly after?: string
}

/**
 * Locks that the processes on one SQLite file share, granted in the order of the requests. A process that dies loses its locks. They only order the
 * processes: SQLite itself excludes concurrent writers, and writes stay conditional.
 */
export interface ProcessLocks {
  /** Rejects after the time limit. */
  lock(name: string, options: LockOptions): Promise<GrantedLock>
}
