import { checkRestore, checkTarget, type RestoredSubject, type TargetSubject } from './check-backup.ts'
import { checkState } from './check-state.ts'
import type { Expectation } from './expectation.ts'

// A process that checks one state after another. A server per state in one process starts faster than a process per state.

/** What a folder is, and what it must hold. */
export type Subject =
  | { readonly kind: 'server'; readonly expected: Expectation }
  | TargetSubject
  | RestoredSubject

export interface Job {
  readonly data: string
  readonly env: Record<string, string>
  readonly subject: Subject
}

/** Undefined: all is well. */
export interface JobResult {
  readonly problem: string | undefined
}

process.on('message', (job: Job) => void answer(job))
process.on('uncaughtException', (error) => process.send?.({ problem: `uncaught: ${error.stack}` }))
process.on('disconnect', () => process.exit())

async function answer({ data, env, subject }: Job): Promise<void> {
  let result: JobResult = { problem: undefined }
  try {
    if (subject.kind === 'server') await checkState(data, env, subject.expected)
    else if (subject.kind === 'target') await checkTarget(data, subject)
    else await checkRestore(data, subject)
  } catch (error) {
    result = { problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  process.send?.(result)
}
