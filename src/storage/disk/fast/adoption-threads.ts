import { Worker } from 'node:worker_threads'
import type { AdopterOptions, Adoption } from '../../index.ts'
import type { FileAdoption } from '../disk-adopter.ts'
import type { AdoptedFiles, FailedAdoption } from '../file-adopter.ts'

/** More than there may be cores: they wait for the disk much of the time. */
const MAX_THREADS = 4
const MIN_FILES_PER_JOB = 2
const MAX_FILES_PER_JOB = 32

type Results = readonly (Adoption | FailedAdoption)[]

/** Files that one thread adopts. */
interface Job {
  readonly files: AdoptedFiles
  readonly done: PromiseWithResolvers<Results>
}

/** Adopts files in several threads, so that reading, hashing and flushing overlap. */
export class AdoptionThreads implements FileAdoption {
  readonly #options: AdopterOptions
  /** The threads, which start when they are first needed, and what each does. */
  readonly #threads = new Map<Worker, Job | undefined>()
  readonly #waiting: Job[] = []
  #failure: Error | undefined

  constructor(options: AdopterOptions) {
    this.#options = options
  }

  async adopt({ files, flushedBeforeMs }: AdoptedFiles): Promise<Results> {
    if (this.#failure !== undefined) throw this.#failure
    // Several jobs for each thread, because files differ in length.
    const share = Math.ceil(files.length / (4 * MAX_THREADS))
    const most = Math.min(Math.max(share, MIN_FILES_PER_JOB), MAX_FILES_PER_JOB)
    const jobs: Job[] = []
    for (let start = 0; start < files.length; start += most) {
      const some = files.slice(start, start + most)
      jobs.push({ files: { files: some, flushedBeforeMs }, done: Promise.withResolvers() })
    }
    this.#waiting.push(...jobs)
    this.#startNext()
    return (await Promise.all(jobs.map(({ done }) => done.promise))).flat()
  }

  /** Calls in progress fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail(new Error('the threads that adopt files were closed'))
    await Promise.all(Array.from(this.#threads.keys(), (worker) => worker.terminate()))
  }

  #startNext(): void {
    for (let job = this.#waiting[0]; job !== undefined; job = this.#waiting[0]) {
      const worker = this.#findIdle()
      if (worker === undefined) return
      this.#waiting.shift()
      this.#threads.set(worker, job)
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(job.files)
    }
  }

  #findIdle(): Worker | undefined {
    for (const [worker, job] of this.#threads) if (job === undefined) return worker
    return this.#threads.size < MAX_THREADS ? this.#start() : undefined
  }

  #start(): Worker {
    const worker = new Worker(new URL('./adoption-worker.ts', import.meta.url), { workerData: this.#options })
    worker.on('message', (results: Results) => {
      this.#threads.get(worker)?.done.resolve(results)
      this.#threads.set(worker, undefined)
      this.#startNext()
    })
    worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    worker.on('exit', (code) => this.#fail(new Error(`an adopting thread ended with code ${code}`)))
    return worker
  }

  #fail(error: Error): void {
    this.#failure ??= error
    const running = [...this.#threads.values()].filter((job) => job !== undefined)
    for (const { done } of [...running, ...this.#waiting.splice(0)]) done.reject(this.#failure)
  }
}
