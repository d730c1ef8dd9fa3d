import { writeSync } from 'node:fs'
import type { Config } from '../../base/config/index.ts'
import { createLogger, type Logger } from '../../base/logging.ts'
import { NewerSchemaError } from '../../platform/database/index.ts'
import { type RunningServer, startServer } from '../server/index.ts'
import { doneWithin } from './done-within.ts'
import { releaseMemory, releaseMemoryWhenIdle } from './memory-release.ts'
import { logReady, MAX_STOP_MS, printReady, untilSignal } from './serving.ts'

/** Serves until a signal arrives, then finishes running work within a time limit. Resolves to the exit code. */
export async function serve(config: Config, options: { json: boolean }): Promise<number> {
  const pretty = process.stdout.isTTY && !options.json
  const logger = createLogger(config.log, { pretty })
  for (const notice of config.notices) logger.warn(notice)
  const stopped = untilSignal(logger)
  const server = await startServer({ config, logger, showsPassword: pretty, onFatal: stopAtOnce })
  // About 20 MB that only the start needed, before the server reports ready.
  releaseMemory()
  using _release = releaseMemoryWhenIdle(() => server.releaseCaches())
  if (pretty) printReady(server, config)
  else logReady(server, config)
  await stopped
  await server.drain()
  return await closeInTime(server, logger)
}

/** Finishes what runs. Resolves to the exit code. */
export async function closeInTime(server: RunningServer, logger: Logger): Promise<number> {
  if (!(await doneWithin(server.close(), MAX_STOP_MS))) {
    // As in a power failure, nothing acknowledged is lost.
    logger.error({ waitingFor: server.closing }, 'stopping takes too long; the process ends without it')
    return 1
  }
  logger.info('stopped')
  return 0
}

/**
 * Kills the process after a disk failure, because nothing may be acknowledged any more. An orderly exit would close the database,
 * which checkpoints a write-ahead log that may have holes.
 */
export function stopAtOnce(error: Error): void {
  reportFatal(error)
  process.kill(process.pid, 'SIGKILL')
  // The first process of a container ignores its own signals, and would go on without being ready. Its supervisor starts it again only if it ends.
  process.abort()
}

export function reportFatal(error: Error): void {
  writeSync(
    2,
    error instanceof NewerSchemaError
      ? `${error.message}\n`
      : `Nothing can be saved any more (${error.message}): see that the disk is sound, then start again.\n`,
  )
}
