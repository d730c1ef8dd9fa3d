import { confinement } from '../../../platform/workers/index.ts'
import { type Finding, ok, warn } from './finding.ts'

const name = 'sandbox'

/** Has a worker process try what the sandbox should prevent, and says what is in force. */
export async function checkSandbox(): Promise<Finding> {
  try {
    const { opensFiles, connects, signals, user, problem } = await confinement()
    const possible = [
      ...(opensFiles ? ['open files'] : []),
      ...(connects ? ['connect to the network'] : []),
      ...(signals ? ['send signals to the server'] : []),
    ]
    if (possible.length === 0) {
      const as = process.getuid?.() === 0 ? `, as user ${user}` : ''
      return ok(name, `the kernel keeps worker processes from files, network, signals and programs${as}`)
    }
    return warn(
      name,
      `code in a worker process could ${possible.join(', ')}: ${problem ?? 'the kernel does not prevent it'}`,
      'run Carrel on Linux with seccomp (x64 or arm64), as a user of its own',
    )
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return warn(
      name,
      `no worker process can be started (${reason})`,
      'there will be no thumbnails, see the log',
    )
  }
}
