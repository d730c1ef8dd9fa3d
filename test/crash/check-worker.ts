import { checkState } from './check-state.ts'
import type { Expectation } from './expectation.ts'

// A process that checks one state after another. A server per state in one process starts faster than a process per state.

export interface Job {
  readonly data: string
  readonly env: Record<string, string>
  readonly expected: Expectation
}

/** Undefined: all is well. */
export interface JobResult {
  readonly problem: string | undefined
}

process.on('message', (job: Job) => void answer(job))
process.on('uncaughtException', (error) => process.send?.({ problem: `uncaught: ${error.stack}` }))
process.on('disconnect', () => process.exit())

async function answer({ data, env, expected }: Job): Promise<void> {
  let result: JobResult = { problem: undefined }
  try {
    await checkState(data, env, expected)
  } catch (error) {
    result = { problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  process.send?.(result)
}
