import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Reader } from './database.ts'
import type { DatabaseSetting } from './open.ts'

/** What a module has to export to be run aside. Input and result are copied from thread to thread. */
export interface AsideJob<Input, Result> {
  run(reader: Reader, input: Input): Promise<Result>
}

export interface AsideThreadData {
  readonly setting: DatabaseSetting
  /** The URL of the module. */
  readonly job: string
  readonly input: unknown
}

// A job passes through much and keeps little.
const YOUNG_MB = 8

/** Database.aside, for a database that is opened like this. */
export async function runAside<Result>(
  setting: DatabaseSetting,
  job: URL,
  input: unknown,
  signal: AbortSignal,
): Promise<Result> {
  signal.throwIfAborted()
  const worker = new Worker(new URL('./aside-thread.ts', import.meta.url), {
    workerData: { setting, job: job.href, input } satisfies AsideThreadData,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  })
  try {
    const [result] = (await once(worker, 'message', { signal })) as [Result]
    return result
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    await worker.terminate()
  }
}
