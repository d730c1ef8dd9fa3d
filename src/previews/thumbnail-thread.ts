import { Worker } from 'node:worker_threads'
import type { ThumbnailJob, ThumbnailReply } from './thumbnail-worker.ts'

const MOST_MS = 15_000
const MOST_WAITING = 100

/**
 * Makes thumbnails one after another on a thread that starts when first needed. A picture that takes too
 * long costs the thread its life, and nobody else anything.
 */
export class ThumbnailThread implements AsyncDisposable {
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** Resolves to why it was not made, or undefined. */
  async make(job: ThumbnailJob): Promise<string | undefined> {
    if (this.#waiting >= MOST_WAITING) return 'too many are waiting'
    this.#waiting += 1
    const made = this.#last.then(() => this.#run(job))
    this.#last = made
    const failure = await made
    this.#waiting -= 1
    return failure
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last
    await this.#worker?.terminate()
  }

  /** Never rejects. */
  async #run(job: ThumbnailJob): Promise<string | undefined> {
    const worker = (this.#worker ??= new Worker(new URL('./thumbnail-worker.ts', import.meta.url)))
    worker.ref()
    const { promise, resolve } = Promise.withResolvers<ThumbnailReply>()
    const fail = (failure: string) => {
      this.#worker = undefined
      resolve({ failure })
    }
    const onError = (error: Error) => fail(error.message)
    const onExit = () => fail('the thread ended')
    worker.once('message', resolve).once('error', onError).once('exit', onExit)
    const timer = setTimeout(() => {
      fail('it took too long')
      void worker.terminate()
    }, MOST_MS)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(job)
    const { failure } = await promise
    clearTimeout(timer)
    worker.off('message', resolve).off('error', onError).off('exit', onExit)
    // An idle thread must not keep the process alive.
    worker.unref()
    return failure
  }
}
