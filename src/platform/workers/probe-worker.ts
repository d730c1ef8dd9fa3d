// Entry point of a worker process that tries what the sandbox should prevent.
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { connect } from 'node:net'
import { serveWorker } from './runtime/index.ts'

/** What a worker process can do on this machine. */
export interface ProbeResult {
  readonly opensFiles: boolean
  readonly connects: boolean
  readonly signals: boolean
  /** The user it runs as; undefined where there are no numbers of users. */
  readonly user: number | undefined
}

serveWorker<object, ProbeResult>({
  async work() {
    return {
      // Its own code, which the permission model lets it read.
      opensFiles: isPossible(() => openSync(import.meta.filename, 'r')),
      connects: await canConnect(),
      signals: isPossible(() => process.kill(process.ppid, 0)),
      user: process.getuid?.(),
    }
  },
})

function isPossible(attempt: () => unknown): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}

/** Nothing listens at the port, so a connection is refused where the attempt is possible. */
async function canConnect(): Promise<boolean> {
  try {
    const socket = connect({ host: '127.0.0.1', port: 1 })
    await once(socket, 'connect')
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
  }
}
