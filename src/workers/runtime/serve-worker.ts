import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { WorkerLimits } from './limits.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'
import { processorMs, type Watched } from './worker-usage.ts'

/** A whole input, or its beginning if it was `cut`. */
interface WorkerInput<Task> {
  readonly task: Task
  readonly bytes: Buffer
  readonly cut: boolean
}

/**
 * Makes this process a worker: it does one job at a time and lives as long as the server holds the other end of its
 * channel. `work` never rejects. The first argument of the process is what it may hold, in bytes.
 */
export function serveWorker<Task, Result>(work: (input: WorkerInput<Task>) => Promise<Result>): void {
  let job: { readonly task: Task; readonly limits: WorkerLimits } | undefined
  let pieces: Uint8Array[] = []
  const { deadline, started } = startWatch(Number(process.argv[2]))
  const say = (message: FromWorker<Result>) => process.send?.(message)
  const setDeadline = (ms: number) => Atomics.store(deadline, 0, Math.ceil(ms))

  // A signal to the whole process group stops the server. It must not look like an input that cannot be read.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)

  // A parser of damaged files leaves rejected promises behind. The job is answered all the same.
  process.on('unhandledRejection', () => undefined)

  process.on('message', (message: ToWorker<Task>) => {
    if (message.kind === 'bytes') {
      pieces.push(message.bytes)
    } else if (message.kind === 'begin') {
      job = message
      pieces = []
    } else if (job !== undefined) {
      const bytes = Buffer.concat(pieces)
      pieces = []
      void run(job, bytes, message.cut)
    }
  })
  say({ kind: 'ready' })

  async function run({ task, limits }: NonNullable<typeof job>, bytes: Buffer, cut: boolean): Promise<void> {
    // No job goes unwatched, not even the first.
    await started
    setDeadline(processorMs() + limits.workMs)
    const result = await work({ task, bytes, cut })
    setDeadline(0)
    say({ kind: 'done', result, tired: process.memoryUsage.rss() > limits.processBytes / 2 })
  }
}

// A thread beside the main one: only it can see how much a parser takes that loops, and stop it once the server is gone.
function startWatch(processBytes: number): { deadline: Int32Array; started: Promise<unknown> } {
  const deadline = new Int32Array(new SharedArrayBuffer(4))
  const watch = new Worker(new URL('./worker-watch.ts', import.meta.url), {
    workerData: { deadline, processBytes } satisfies Watched,
  })
  const started = once(watch, 'message')
  watch.unref()
  return { deadline, started }
}
