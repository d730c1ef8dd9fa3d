import { randomUUID } from 'node:crypto'
import type { Config } from '../../base/config/index.ts'
import { createLogger } from '../../base/logging.ts'
import { lockDataFolder, prepareDataFolder } from '../../platform/data-folder/index.ts'
import { Supervisor, WorkerStartError } from '../../platform/processes/index.ts'
import { doneWithin } from './done-within.ts'
import { releaseMemory } from './memory-release.ts'
import { logReady, MAX_STOP_MS, printReady, type ReadyReport, untilSignal } from './serving.ts'

/** What every worker is told. */
export interface WorkerInput {
  readonly config: Config
  readonly pretty: boolean
}

/** Longer than a worker takes at most. */
const GRACE_MS = 5000

/**
 * Serves with several processes, `count` of them, until a signal arrives. This process has the lock of the data folder and the port. It opens no database, so that it
 * stays small. Resolves to the exit code.
 */
export async function supervise(config: Config, count: number, options: { json: boolean }): Promise<number> {
  const pretty = process.stdout.isTTY && !options.json
  const logger = createLogger(config.log, { pretty })
  const stopped = untilSignal(logger)
  await prepareDataFolder(config.dataDirectory)
  const firstNodeId = randomUUID()
  const address = `${config.host}:${config.port}`
  await using lock = await lockDataFolder(config.dataDirectory, address, firstNodeId)
  const failed = Promise.withResolvers<'failed'>()
  const supervisor = new Supervisor({
    entry: new URL('./serve-worker.ts', import.meta.url),
    input: { config, pretty } satisfies WorkerInput,
    count,
    deadNodeId: lock.deadNodeId,
    firstNodeId,
    logger: logger.child({ module: 'processes' }),
    onFatal: () => failed.resolve('failed'),
  })
  // Whatever ends this process ends the workers.
  process.once('exit', () => supervisor.kill())
  let report: ReadyReport
  try {
    report = (await supervisor.start()) as ReadyReport
  } catch (error) {
    supervisor.kill()
    if (error instanceof WorkerStartError) return error.exitCode
    throw error
  }
  await lock.setAddress(report.listening.url)
  releaseMemory()
  if (pretty) printReady(report, config)
  else logReady(report, config)
  if ((await Promise.race([stopped, failed.promise])) === 'failed') return 1
  const drainMs = config.drainSeconds * 1000
  if (!(await doneWithin(supervisor.stop(drainMs), MAX_STOP_MS + drainMs + GRACE_MS))) {
    supervisor.kill()
    return 1
  }
  return 0
}
