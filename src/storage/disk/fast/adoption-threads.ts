import { ThreadPool } from '../../../thread-pool.ts'
import type { AdopterOptions } from '../../index.ts'
import type { FileAdoption } from '../disk-adopter.ts'
import type { Adopted, AdoptedFiles } from '../file-adopter.ts'

/** More than there may be cores: they wait for the disk much of the time. */
const MAX_THREADS = 4
const MAX_FILES_PER_JOB = 32

type Results = readonly Adopted[]

/** Adopts files in several threads, so that reading, hashing and flushing overlap. */
export class AdoptionThreads implements FileAdoption {
  readonly #threads: ThreadPool<AdoptedFiles, Results>

  constructor(options: AdopterOptions) {
    const entry = new URL('./adoption-worker.ts', import.meta.url)
    this.#threads = new ThreadPool(entry, { threads: MAX_THREADS, workerData: options })
  }

  async adopt({ files, flushedBeforeMs }: AdoptedFiles): Promise<Results> {
    // Several jobs for each thread, because files differ in length. A few long files are one job each, so that all threads have one.
    const most = Math.min(Math.ceil(files.length / (4 * MAX_THREADS)), MAX_FILES_PER_JOB)
    const jobs: Promise<Results>[] = []
    for (let start = 0; start < files.length; start += most) {
      jobs.push(this.#threads.run({ files: files.slice(start, start + most), flushedBeforeMs }))
    }
    return (await Promise.all(jobs)).flat()
  }

  /** Calls in progress fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#threads[Symbol.asyncDispose]()
  }
}
