import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { WorkerLimits } from './limits.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'
import { cpuMs, type Watched } from './worker-usage.ts'

/** The input, truncated if `cut`. */
interface WorkerInput<Task> {
  readonly task: Task
  readonly bytes: Buffer
  readonly cut: boolean
  /** Has the process replaced after this job, because its state can no longer be trusted. */
  readonly retire: () => void
}

/**
 * Makes this process a worker: it does one job at a time and exits when the server closes the IPC channel. `work` never
 * rejects. The first argument of the process is its memory limit in bytes.
 */
export function serveWorker<Task, Result>(work: (input: WorkerInput<Task>) => Promise<Result>): void {
  let job: { readonly task: Task; readonly limits: WorkerLimits } | undefined
  let pieces: Uint8Array[] = []
  const { deadline, started } = startWatch(Number(process.argv[2]))
  const send = (message: FromWorker<Result>) => process.send?.(message)
  const setDeadline = (ms: number) => Atomics.store(deadline, 0, Math.ceil(ms))

  // A signal to the process group is meant for the server. Exiting here would be reported as an unreadable input.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)

  // Parsers of damaged files leave unhandled rejections behind. The job still gets its result.
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
  send({ kind: 'ready' })

  async function run({ task, limits }: NonNullable<typeof job>, bytes: Buffer, cut: boolean): Promise<void> {
    // The watchdog must run before the first job does.
    await started
    setDeadline(cpuMs() + limits.workMs)
    let isRetired = false
    const retire = () => {
      isRetired = true
    }
    const result = await work({ task, bytes, cut, retire })
    setDeadline(0)
    const recycle = isRetired || process.memoryUsage.rss() > limits.processBytes / 2
    send({ kind: 'done', result, recycle })
  }
}

// A thread, because only it can measure and kill a parser that blocks the main thread, even after the server has exited.
function startWatch(processBytes: number): { deadline: Int32Array; started: Promise<unknown> } {
  const deadline = new Int32Array(new SharedArrayBuffer(4))
  const watch = new Worker(new URL('./worker-watch.ts', import.meta.url), {
    workerData: { deadline, processBytes } satisfies Watched,
  })
  const started = once(watch, 'message')
  watch.unref()
  return { deadline, started }
}
