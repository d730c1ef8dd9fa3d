import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, getPriority, setPriority } from 'node:os'
import type { DatabaseSetting } from './open.ts'

/** The message to the process. Input and result are copied between the processes. */
export interface SideTask {
  readonly setting: DatabaseSetting
  readonly input: unknown
}

/** The reply of the process. */
export type SideResult = { readonly result: unknown } | { readonly error: string }

/** Implements Database.runInSideProcess for a database opened with `setting`. */
export async function runInSideProcess<Result>(
  setting: DatabaseSetting,
  job: URL,
  input: unknown,
  signal: AbortSignal,
): Promise<Result> {
  signal.throwIfAborted()
  const child = start(job)
  const exited = once(child, 'close')
  try {
    const task: SideTask = { setting, input }
    child.send(task, () => {})
    const reply = await Promise.race([once(child, 'message', { signal }), exited.then(endedEarly)])
    const [said] = reply as [SideResult]
    if ('error' in said) throw new Error(said.error)
    return said.result as Result
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    child.kill('SIGKILL')
    await exited.catch(() => {})
  }
}

// A small young generation is enough: a job allocates little that survives a collection.
function start(job: URL): ChildProcess {
  const child = fork(job, [], {
    execArgv: ['--disable-sigusr1', '--max-semi-space-size=4'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  try {
    // Requests have priority over side jobs.
    if (child.pid !== undefined)
      setPriority(child.pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + 5))
  } catch {
    // The process has already ended, or the system does not permit it.
  }
  return child
}

function endedEarly([code, signal]: unknown[]): never {
  throw new Error(`The side process ended early (${String(signal ?? code)}).`)
}
