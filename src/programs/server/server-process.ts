import { availableParallelism } from 'node:os'
import type { Config } from '../../base/config/index.ts'
import type { ProcessLocks } from '../../platform/database/index.ts'
import type { ConnectionSource } from '../../platform/http/index.ts'

/** One of several processes of a server, which share its data folder. Each is a node. */
export interface ServerProcess {
  /** From 1 on. */
  readonly number: number
  /** Processes of the server at most. */
  readonly count: number
  readonly nodeId: string
  /** No other process of the server is running, so temporary files in the data folder are orphans and are deleted. */
  readonly isAlone: boolean
  /** A node that is known to be dead. */
  readonly deadNodeId?: string | undefined
  readonly locks: ProcessLocks
  /** The process listens itself unless given. */
  readonly connections?: ConnectionSource | undefined
  /** `metrics` are those of this process. Returns a function that collects those of all processes. */
  shareMetrics?(metrics: () => Promise<unknown>): () => Promise<readonly unknown[]>
}

type Numbered = Pick<ServerProcess, 'number' | 'count'>

/** The settings of one process: its share of what the server as a whole may use. */
export function configOfProcess(config: Config, process: Numbered): Config {
  const { count } = process
  const { blocks } = config
  return {
    ...config,
    threads: config.threads ?? Math.max(1, Math.floor(availableParallelism() / count)),
    // A cache counts its bytes in memory, so processes do not share one.
    blocks:
      blocks.kind === 'disk'
        ? blocks
        : {
            ...blocks,
            directory: nameOfProcess(blocks.directory, process),
            cacheBytes: Math.floor(blocks.cacheBytes / count),
          },
  }
}

/** The name of a file or folder in the data folder that each process has for itself. */
function nameOfProcess(name: string, { number }: Numbered): string {
  return number === 1 ? name : `${name}-${number}`
}
