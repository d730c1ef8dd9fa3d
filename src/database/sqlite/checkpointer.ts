import { Worker } from 'node:worker_threads'
import type { Logger } from '../logger.ts'
import type { Mutex } from '../mutex.ts'
import type { CheckpointMode, CheckpointReply, CheckpointResult } from './checkpoint-worker.ts'
import { primaryCode } from './connection.ts'

const ioError = 10
const retryAfterMs = 1000

interface Options {
  readonly file: string
  /** Frames in the log from which on it is copied into the database file. */
  readonly fromFrames: number
  /** The writers' turns; a checkpoint takes one to finish what they keep adding to. */
  readonly writeMutex: Mutex
  readonly logger: Logger
  readonly onDiskError: (error: Error) => void
}

/** Copies the write-ahead log into the database file, on a thread that starts when first needed. */
export class Checkpointer {
  readonly #options: Options
  #worker: Worker | undefined
  #running: Promise<void> | undefined
  #answer: { resolve(reply: CheckpointReply): void; reject(error: unknown): void } | undefined
  #notBeforeMs = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** Starts a checkpoint if the log has grown enough and none is under way. */
  consider(frames: number): void {
    if (frames < this.#options.fromFrames || this.#running || performance.now() < this.#notBeforeMs) return
    this.#running = this.#checkpoint().finally(() => {
      this.#running = undefined
    })
  }

  /** Empties the log if it was ever large, and ends the thread. */
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

  // The first pass copies most while writers go on. They add as it copies, so the log would never
  // be wholly copied and never start over; the second pass has them wait for what little is left.
  async #checkpoint(): Promise<void> {
    try {
      await this.#ask('passive')
      const unlock = await this.#options.writeMutex.lock()
      try {
        await this.#ask('restart')
      } finally {
        unlock()
      }
    } catch (error) {
      this.#notBeforeMs = performance.now() + retryAfterMs
      this.#options.logger.error({ err: error }, 'the write-ahead log could not be copied; trying again')
    }
  }

  // One question at a time: a checkpoint runs alone, and close waits for it.
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
