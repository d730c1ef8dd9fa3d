import type { Config } from '../../base/config/index.ts'
import { createLogger, type Logger } from '../../base/logging.ts'
import type { RunningServer } from '../server/index.ts'
import { watchAncestors } from './ancestors.ts'

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Time limit of a shutdown. Running requests get half of it. */
export const MAX_STOP_MS = 60_000

/** What the operator is told about a server that is ready. */
export type ReadyReport = Pick<RunningServer, 'listening' | 'firstRun'>

/** A signal to a group of processes arrives twice if the parent passes it on, too. */
const REPEATED_MS = 1000

/** Resolves at the first signal, or when the launcher or npm has ended. A second signal ends the process at once. */
export function untilSignal(logger: Logger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let askedAt: number | undefined
  const stop = (fields: object) => {
    askedAt = performance.now()
    logger.info(fields, 'stopping: finishing what runs')
    resolve()
  }
  const hasAncestors = watchAncestors(() => {
    if (askedAt === undefined) stop({ ended: 'parent' })
  })
  const repeatedMs = hasAncestors ? REPEATED_MS : 0
  for (const signal of signals) {
    process.on(signal, () => {
      if (askedAt === undefined) stop({ signal })
      else if (performance.now() - askedAt >= repeatedMs) process.exit(1)
    })
  }
  return promise
}

export function printReady({ listening, firstRun }: ReadyReport, config: Config): void {
  const lines = [`Carrel is ready at ${listening.url}`, `Data folder: ${config.dataDirectory}`]
  if (firstRun.created) lines.push(`Administrator: ${firstRun.email}`)
  if (firstRun.created && firstRun.generatedPassword !== undefined) {
    lines.push(`Password: ${firstRun.generatedPassword} (shown only this once)`)
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

// At any log level: the operator needs the port and the place of the password.
export function logReady({ listening, firstRun }: ReadyReport, config: Config): void {
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
