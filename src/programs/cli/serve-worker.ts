import { createLogger } from '../../base/logging.ts'
import { connectWorker } from '../../platform/processes/index.ts'
import { startServer } from '../server/index.ts'
import { releaseMemory, releaseMemoryWhenIdle } from './memory-release.ts'
import { closeInTime, reportFatal } from './serve.ts'
import type { ReadyReport } from './serving.ts'
import type { WorkerInput } from './supervise.ts'

// One of several processes of a server. The supervisor forks this module.
const worker = await connectWorker()
const { number, count, nodeId, isAlone, deadNodeId } = worker.start
const { config, pretty } = worker.start.input as WorkerInput
const logger = createLogger(config.log, { pretty }).child({ process: number })
try {
  const server = await startServer({
    config,
    logger,
    showsPassword: pretty,
    process: {
      number,
      count,
      nodeId,
      isAlone,
      deadNodeId,
      locks: worker.locks,
      connections: worker,
      shareMetrics: (metrics) => worker.shareMetrics(metrics),
    },
    onFatal(error) {
      reportFatal(error)
      worker.failAll()
    },
  })
  releaseMemory()
  using _release = releaseMemoryWhenIdle(() => server.releaseCaches())
  const { listening, firstRun } = server
  worker.reportConnections(() => server.connectionCount)
  worker.ready({ listening, firstRun } satisfies ReadyReport)
  await worker.stopped
  await server.drain()
  process.exitCode = await closeInTime(server, logger)
} catch (error) {
  const { exitCodeFor, textFor } = await import('./failure.ts')
  process.stderr.write(`${textFor(error)}\n`)
  process.exitCode = exitCodeFor(error)
}
process.exit()
