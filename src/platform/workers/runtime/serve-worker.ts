import { once } from 'node:events'
import { readSync, writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { frameHeader } from './frames.ts'
import { seal } from './seal.ts'
import {
  EXIT_UNSEALED,
  encodeMessage,
  FROM_WORKER,
  type JobDone,
  type JobEnd,
  type JobStart,
  TO_WORKER,
} from './worker-messages.ts'
import { cpuMs, memoryMeter, type Watched } from './worker-usage.ts'

/** The input of a job, truncated if `cut`. */
export interface WorkerInput<Task> {
  readonly task: Task
  readonly bytes: Buffer
  readonly cut: boolean
  /** Has the process replaced after this job, because its state can no longer be trusted. */
  readonly retire: () => void
}

interface WorkerCode<Task, Result> {
  /** Loads what tasks like the first one need: afterwards no file can be opened. No byte of the input has been read yet. */
  readonly prepare?: (task: Task) => Promise<unknown>
  /** Never rejects. */
  readonly work: (input: WorkerInput<Task>) => Promise<Result>
}

/** Descriptors of the pipes from and to the server. Standard output is closed: libraries write to it. */
const INPUT = 0
const OUTPUT = 3

/**
 * Makes this process a worker: it does one job at a time, and exits when the server closes the pipe. Arguments of the process are its
 * memory limit in bytes and the file of the FFI package, without which the kernel does not confine it.
 */
export function serveWorker<Task, Result>(code: WorkerCode<Task, Result>): void {
  serve(code).catch((error: unknown) => {
    writeSync(2, String(error))
    process.exit(1)
  })
}

async function serve<Task, Result>(code: WorkerCode<Task, Result>): Promise<void> {
  const [processBytes, addon] = process.argv.slice(2)
  const residentBytes = memoryMeter()
  const { deadline, started } = startWatch(Number(processBytes))
  const setDeadline = (ms: number) => Atomics.store(deadline, 0, Math.ceil(ms))
  // A signal to the process group is meant for the server. Exiting here would be reported as an unreadable input.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
  // Parsers of damaged files leave unhandled rejections behind. The job still gets its result.
  process.on('unhandledRejection', () => undefined)
  // The watchdog must run before the first job does.
  await started
  send(FROM_WORKER.ready, {})

  let isSealed = false
  let job: JobStart<Task> | undefined
  let pieces: Buffer[] = []
  // Reads are synchronous: between jobs there is nothing else to do.
  for (let frame = readFrame(); frame !== undefined; frame = readFrame()) {
    if (frame.kind === TO_WORKER.begin) {
      job = JSON.parse(frame.payload.toString()) as JobStart<Task>
      pieces = []
      if (isSealed) continue
      await code.prepare?.(job.task)
      sealOrExit(addon)
      isSealed = true
    } else if (frame.kind === TO_WORKER.bytes) {
      pieces.push(frame.payload)
    } else if (job !== undefined) {
      const { cut } = JSON.parse(frame.payload.toString()) as JobEnd
      const bytes = Buffer.concat(pieces)
      pieces = []
      send(FROM_WORKER.done, await run(job, bytes, cut))
    }
  }
  process.exit()

  async function run(
    { task, limits }: JobStart<Task>,
    bytes: Buffer,
    cut: boolean,
  ): Promise<JobDone<Result>> {
    setDeadline(cpuMs() + limits.workMs)
    let isRetired = false
    const retire = () => {
      isRetired = true
    }
    const result = await code.work({ task, bytes, cut, retire })
    setDeadline(0)
    return { result, recycle: isRetired || residentBytes() > limits.processBytes / 2 }
  }
}

function sealOrExit(addon: string | undefined): void {
  try {
    seal(addon)
  } catch (error) {
    writeSync(2, String(error))
    process.exit(EXIT_UNSEALED)
  }
}

/** Waits for the next frame of the server. Undefined when it closed the pipe. */
function readFrame(): { readonly kind: number; readonly payload: Buffer } | undefined {
  const header = readExactly(frameHeader(0, 0).length)
  const payload = header && readExactly(header.readUInt32BE(1))
  return payload && { kind: header.readUInt8(0), payload }
}

function readExactly(length: number): Buffer | undefined {
  const buffer = Buffer.allocUnsafe(length)
  for (let filled = 0; filled < length; ) {
    const read = readSync(INPUT, buffer, filled, length - filled, null)
    if (read === 0) return undefined
    filled += read
  }
  return buffer
}

function send(kind: number, message: unknown): void {
  const payload = encodeMessage(message)
  const frame = Buffer.concat([frameHeader(kind, payload.length), payload])
  for (let written = 0; written < frame.length; ) written += writeSync(OUTPUT, frame, written)
}

// A thread, because only it can measure and kill a parser that blocks the main thread, even after the server has exited.
function startWatch(processBytes: number): { deadline: Int32Array; started: Promise<unknown> } {
  const deadline = new Int32Array(new SharedArrayBuffer(4))
  const watch = new Worker(new URL('./worker-watch.ts', import.meta.url), {
    workerData: { deadline, processBytes } satisfies Watched,
  })
  return { deadline, started: once(watch, 'message') }
}
