import { Worker } from 'node:worker_threads'
import type { Logger } from '../logger.ts'
import type { CheckpointMode, CheckpointReply, CheckpointResult } from './checkpoint-worker.ts'
import { primaryCode } from './connection.ts'
import type { WriteLock } from './write-lock.ts'

const ioError = 10
const MIN_RETRY_MS = 1000
const MAX_RETRY_MS = 30_000
const WARNING_INTERVAL_MS = 10 * 60_000
/** Asking for the length of the log takes 20 µs, so small commits far below the limit do it in turn. */
const MAX_UNASKED = 16
/** A commit of so few rows is small. */
const FEW_ROWS = 64
/** What a small commit adds to the log, by a generous estimate. */
const FRAMES_OF_FEW = 64

interface Options {
  readonly file: string
  /** Number of frames in the log that triggers a checkpoint. */
  readonly fromFrames: number
  /** Number of frames from which a log that cannot be restarted is reported. */
  readonly largeFrames: number
  /** The mutex of the writers. A checkpoint locks it for its last part, so that the log stops growing. */
  readonly writeMutex: Pick<WriteLock, 'lock'>
  readonly logger: Logger
  readonly onDiskError: (error: Error) => void
}

/** Runs checkpoints: copies the write-ahead log into the database file, on a thread that starts when first needed. */
export class Checkpointer {
  readonly #options: Options
  #worker: Worker | undefined
  #running: Promise<void> | undefined
  #answer: { resolve(reply: CheckpointReply): void; reject(error: unknown): void } | undefined
  #notBeforeMs = 0
  /** How many small commits need not ask for the length of the log. */
  #unasked = 0
  #retryMs = MIN_RETRY_MS
  #nextWarningMs = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** Called after a commit of `rows`. Starts a checkpoint if the log is large enough and none is running. */
  consider(rows: number, framesInLog: () => number): void {
    if (this.#running || performance.now() < this.#notBeforeMs) return
    if (this.#unasked > 0 && rows <= FEW_ROWS) {
      this.#unasked -= 1
      return
    }
    const left = this.#options.fromFrames - framesInLog()
    this.#unasked = Math.min(Math.max(0, Math.floor(left / FRAMES_OF_FEW)), MAX_UNASKED)
    if (left > 0) return
    this.#running = this.#checkpoint().finally(() => {
      this.#running = undefined
    })
  }

  /**
   * Copies the whole log and truncates its file, so that deleted content is not left in it. Does nothing while another connection reads from
   * the log: the next call does it.
   */
  async truncate(): Promise<void> {
    while (this.#running) await this.#running
    this.#running = this.#copyAndTruncate().finally(() => {
      this.#running = undefined
    })
    await this.#running
  }

  /** Truncates the log if a checkpoint ever ran, and ends the thread. */
  async close(): Promise<void> {
    await this.#running
    if (!this.#worker) return
    try {
      await this.#ask('truncate')
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the write-ahead log could not be emptied at close')
    }
    await this.#worker?.terminate()
    this.#worker = undefined
  }

  // The first pass copies most of the log while writers continue. They keep appending, so the log would never be copied completely and never
  // restart. The second pass makes them wait for the small rest. It does not wait for readers: a long one (a backup, a count in a side process)
  // needs the log as it is, and the log grows until it ends.
  async #checkpoint(): Promise<void> {
    try {
      await this.#ask('passive')
      const unlock = await this.#options.writeMutex.lock()
      let result: CheckpointResult
      try {
        result = await this.#ask('restart')
      } finally {
        unlock()
      }
      if (result.busy) {
        this.#backOff()
        this.#warnIfLarge(result)
      } else this.#retryMs = MIN_RETRY_MS
    } catch (error) {
      this.#backOff()
      this.#options.logger.error({ err: error }, 'the write-ahead log could not be copied; trying again')
    }
  }

  async #copyAndTruncate(): Promise<void> {
    try {
      await this.#ask('passive')
      const unlock = await this.#options.writeMutex.lock()
      try {
        await this.#ask('truncate-now')
      } finally {
        unlock()
      }
    } catch (error) {
      this.#options.logger.error({ err: error }, 'the write-ahead log could not be truncated')
    }
  }

  #backOff(): void {
    this.#notBeforeMs = performance.now() + this.#retryMs
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS)
  }

  #warnIfLarge({ log, checkpointed }: CheckpointResult): void {
    const now = performance.now()
    if (log < this.#options.largeFrames || now < this.#nextWarningMs) return
    this.#nextWarningMs = now + WARNING_INTERVAL_MS
    this.#options.logger.warn(
      { frames: log, copied: checkpointed },
      'the write-ahead log keeps growing, because another program has been reading the database for long; end that program',
    )
  }

  // One request at a time: checkpoints do not overlap, and `close` waits for one.
  async #ask(mode: CheckpointMode): Promise<CheckpointResult> {
    const worker = (this.#worker ??= this.#startWorker())
    const { promise, resolve, reject } = Promise.withResolvers<CheckpointReply>()
    this.#answer = { resolve, reject }
    worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(mode)
    const reply = await promise.finally(() => worker.unref())
    if ('result' in reply) return reply.result
    if (primaryCode(reply.code) === ioError) this.#options.onDiskError(reply.error)
    throw reply.error
  }

  #startWorker(): Worker {
    const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), {
      workerData: { file: this.#options.file },
    })
    worker.on('message', (reply: CheckpointReply) => this.#answer?.resolve(reply))
    worker.on('error', (error) => this.#answer?.reject(error))
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      this.#answer?.reject(new Error('The checkpoint thread ended.'))
    })
    return worker
  }
}
