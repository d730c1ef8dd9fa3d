import { Worker } from 'node:worker_threads'

interface ThreadPoolOptions {
  /** Threads at most. */
  readonly threads: number
  /** Passed to each thread. */
  readonly workerData?: unknown
}

/** A request that waits for a thread, or is being answered by one. */
interface Job<Request, Reply> {
  readonly request: Request
  readonly done: PromiseWithResolvers<Reply>
}

/**
 * Answers requests in a bounded number of threads, which start when they are first needed. Each thread answers one request at a time, by one message
 * for each that it gets. If a thread ends by itself, this and all later requests fail, because its work may be half done.
 */
export class ThreadPool<Request, Reply> implements AsyncDisposable {
  readonly #entry: URL
  readonly #options: ThreadPoolOptions
  /** The threads, and what each does. */
  readonly #threads = new Map<Worker, Job<Request, Reply> | undefined>()
  readonly #waiting: Job<Request, Reply>[] = []
  #failure: Error | undefined

  /** `entry` is the file that a thread runs. */
  constructor(entry: URL, options: ThreadPoolOptions) {
    this.#entry = entry
    this.#options = options
  }

  /** Requests are started in the order of the calls. */
  async run(request: Request): Promise<Reply> {
    if (this.#failure !== undefined) throw this.#failure
    const job: Job<Request, Reply> = { request, done: Promise.withResolvers() }
    this.#waiting.push(job)
    this.#startNext()
    return job.done.promise
  }

  /** Requests that are not answered yet fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail(new Error('the threads were closed'))
    await Promise.all(Array.from(this.#threads.keys(), (worker) => worker.terminate()))
  }

  #startNext(): void {
    for (let job = this.#waiting[0]; job !== undefined; job = this.#waiting[0]) {
      const worker = this.#findIdle()
      if (worker === undefined) return
      this.#waiting.shift()
      this.#threads.set(worker, job)
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(job.request)
    }
  }

  #findIdle(): Worker | undefined {
    for (const [worker, job] of this.#threads) if (job === undefined) return worker
    return this.#threads.size < this.#options.threads ? this.#start() : undefined
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#options.workerData })
    worker.on('message', (reply: Reply) => {
      this.#threads.get(worker)?.done.resolve(reply)
      this.#threads.set(worker, undefined)
      this.#startNext()
    })
    worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    worker.on('exit', (code) => this.#fail(new Error(`a thread ended with code ${code}`)))
    return worker
  }

  #fail(error: Error): void {
    this.#failure ??= error
    const running = [...this.#threads.values()].filter((job) => job !== undefined)
    for (const { done } of [...running, ...this.#waiting.splice(0)]) done.reject(this.#failure)
  }
}
