import type { Extracted } from './extract-text.ts'
import { formatOf, isMostlyText, isReadableInPart } from './formats.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { describeBytes, WorkerProcess } from './worker-process.ts'

export type { Extracted } from './extract-text.ts'
export { isExtractable } from './formats.ts'

/** Turns files into plain text, for search and previews, outside the process of the server. */
export interface TextExtractor {
  /**
   * The text of a file, or a reason that is about the file alone: the same bytes give it again, so it may be kept.
   * `read` is called at most once and left as soon as enough is known.
   *
   * Rejects with what `read` throws, with the reason of the signal, and with `ExtractorUnavailable`; none of them says
   * anything about the file.
   */
  extract(
    input: { name: string; size: number; read: () => AsyncIterable<Buffer> },
    options?: { signal?: AbortSignal },
  ): Promise<Extracted>
  /** Ends all workers; what they read rejects with `ExtractorUnavailable`. */
  close(): Promise<void>
}

/** Nobody can read the file just now: too many wait, or the server is stopping. */
export class ExtractorUnavailable extends Error {
  override readonly name = 'ExtractorUnavailable'
}

export interface TextExtractorOptions {
  /** Files read side by side, each in a worker process of its own. */
  readonly threads: number
  /** Files that may wait for a worker. */
  readonly waiting?: number
  /** How long a worker stays when there is nothing to read. */
  readonly idleMs?: number
  readonly limits?: Partial<Limits>
}

/** Starts nothing: workers come with the first file. */
export function createTextExtractor(options: TextExtractorOptions): TextExtractor {
  return new WorkerPool(options)
}

interface Waiter {
  resolve(worker: WorkerProcess): void
  reject(error: unknown): void
}

class WorkerPool implements TextExtractor {
  readonly #options: Required<Omit<TextExtractorOptions, 'limits'>>
  readonly #limits: Limits
  readonly #workers = new Set<WorkerProcess>()
  readonly #idle = new Map<WorkerProcess, NodeJS.Timeout>()
  readonly #waiters = new Set<Waiter>()
  readonly #endings = new Set<Promise<void>>()
  #isClosed = false

  constructor({ threads, waiting = 1000, idleMs = 30_000, limits }: TextExtractorOptions) {
    this.#options = { threads, waiting, idleMs }
    this.#limits = { ...defaultLimits, ...limits }
  }

  async extract(
    input: { name: string; size: number; read: () => AsyncIterable<Buffer> },
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<Extracted> {
    signal?.throwIfAborted()
    const format = formatOf(input.name)
    if (format === undefined) return { reason: 'is of a type that cannot be read' }
    const mostBytes = isMostlyText(format) ? this.#limits.plainBytes : this.#limits.inputBytes
    const whole = !isReadableInPart(format)
    if (whole && input.size > mostBytes) return { reason: `is larger than ${describeBytes(mostBytes)}` }
    const worker = await this.#take(signal)
    try {
      return await worker.run({ name: input.name, read: input.read, mostBytes, whole }, signal)
    } finally {
      this.#giveBack(worker)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const waiter of this.#waiters) waiter.reject(stopping())
    this.#waiters.clear()
    for (const timer of this.#idle.values()) clearTimeout(timer)
    for (const worker of this.#workers) this.#letGo(worker, stopping())
    await Promise.all(this.#endings)
  }

  async #take(signal?: AbortSignal): Promise<WorkerProcess> {
    if (this.#isClosed) throw stopping()
    for (const [worker, timer] of this.#idle) {
      clearTimeout(timer)
      this.#idle.delete(worker)
      if (worker.isAlive) return worker
      this.#letGo(worker)
    }
    if (this.#workers.size < this.#options.threads) return this.#start()
    if (this.#waiters.size >= this.#options.waiting) throw new ExtractorUnavailable('Too many files wait.')
    return this.#wait(signal)
  }

  async #wait(signal?: AbortSignal): Promise<WorkerProcess> {
    const { promise, resolve, reject } = Promise.withResolvers<WorkerProcess>()
    const waiter = { resolve, reject }
    this.#waiters.add(waiter)
    const abort = () => {
      this.#waiters.delete(waiter)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await promise
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  #giveBack(worker: WorkerProcess): void {
    if (!worker.isAlive) this.#letGo(worker)
    if (this.#isClosed) return
    const [next] = this.#waiters
    if (next !== undefined) {
      this.#waiters.delete(next)
      next.resolve(worker.isAlive ? worker : this.#start())
    } else if (worker.isAlive) {
      this.#idle.set(worker, setTimeout(() => this.#letGo(worker), this.#options.idleMs).unref())
    }
  }

  #letGo(worker: WorkerProcess, error?: Error): void {
    this.#idle.delete(worker)
    this.#workers.delete(worker)
    const ending = worker.kill(error).finally(() => this.#endings.delete(ending))
    this.#endings.add(ending)
  }

  #start(): WorkerProcess {
    const worker = new WorkerProcess(this.#limits)
    this.#workers.add(worker)
    return worker
  }
}

function stopping(): ExtractorUnavailable {
  return new ExtractorUnavailable('The server is stopping.')
}
