import { writeSync } from 'node:fs'
import type { Config } from '../config/index.ts'
import { createLogger, type Logger } from '../logging.ts'
import { type RunningServer, startServer } from '../server/index.ts'
import { doneWithin } from './done-within.ts'
import { releaseMemory, releaseMemoryWhenIdle } from './memory-release.ts'

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

// Time limit of a shutdown. Running requests get half of it.
const MAX_STOP_MS = 60_000

/** Serves until a signal arrives, then finishes running work within a time limit. Resolves to the exit code. */
export async function serve(config: Config, options: { json: boolean }): Promise<number> {
  const pretty = process.stdout.isTTY && !options.json
  const logger = createLogger(config.log, { pretty })
  const stopped = untilSignal(logger)
  const server = await startServer({ config, logger, showsPassword: pretty, onFatal: stopAtOnce })
  // About 20 MB that only the start needed, before the server reports ready.
  releaseMemory()
  using _release = releaseMemoryWhenIdle(() => server.releaseCaches())
  if (pretty) printReady(server, config)
  else logReady(server, config)
  await stopped
  await server.drain()
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
function stopAtOnce(error: Error): void {
  writeSync(
    2,
    `Nothing can be saved any more (${error.message}): see that the disk is sound, then start again.\n`,
  )
  process.kill(process.pid, 'SIGKILL')
}

/** Resolves at the first signal. A second one ends the process at once. */
function untilSignal(logger: Logger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let asked = false
  for (const signal of signals) {
    process.on(signal, () => {
      if (asked) process.exit(1)
      asked = true
      logger.info({ signal }, 'stopping: finishing what runs')
      resolve()
    })
  }
  return promise
}

function printReady({ listening, firstRun }: RunningServer, config: Config): void {
  const lines = [`Carrel is ready at ${listening.url}`, `Data folder: ${config.dataDirectory}`]
  if (firstRun.created) lines.push(`Administrator: ${firstRun.email}`)
  if (firstRun.created && firstRun.generatedPassword !== undefined) {
    lines.push(`Password: ${firstRun.generatedPassword} (shown only this once)`)
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

// At any log level: the operator needs the port and the place of the password.
function logReady({ listening, firstRun }: RunningServer, config: Config): void {
  const log = createLogger('info', { pretty: false, destination: process.stdout })
  if (firstRun.created) {
    const { email, passwordFile } = firstRun
    if (passwordFile === undefined) log.info({ administrator: email }, 'administrator made')
    else {
      log.info(
        { administrator: email, passwordFile },
        'administrator made; the file holds its generated password until the first sign-in',
      )
    }
  }
  log.info({ url: listening.url, dataFolder: config.dataDirectory }, `Carrel is ready at ${listening.url}`)
}
