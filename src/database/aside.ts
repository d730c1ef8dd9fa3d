import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, getPriority, setPriority } from 'node:os'
import type { DatabaseSetting } from './open.ts'

/** What the process is told. Input and result are copied from process to process. */
export interface AsideTask {
  readonly setting: DatabaseSetting
  readonly input: unknown
}

/** What it says in the end. */
export type AsideReply = { readonly result: unknown } | { readonly error: string }

/** Database.aside, for a database that is opened like this. */
export async function runAside<Result>(
  setting: DatabaseSetting,
  job: URL,
  input: unknown,
  signal: AbortSignal,
): Promise<Result> {
  signal.throwIfAborted()
  const child = start(job)
  const exited = once(child, 'close')
  try {
    const task: AsideTask = { setting, input }
    child.send(task, () => {})
    const reply = await Promise.race([once(child, 'message', { signal }), exited.then(endedEarly)])
    const [said] = reply as [AsideReply]
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

// What it takes of memory is garbage soon after, so little is enough for what is young.
function start(job: URL): ChildProcess {
  const child = fork(job, [], {
    execArgv: ['--max-semi-space-size=4'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  try {
    // People who wait for an answer come first.
    if (child.pid !== undefined)
      setPriority(child.pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + 5))
  } catch {
    // It has ended already, or the system does not let us.
  }
  return child
}

function endedEarly([code, signal]: unknown[]): never {
  throw new Error(`The process that read aside ended early (${String(signal ?? code)}).`)
}
