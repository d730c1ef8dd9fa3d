import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** A request, encoded. */
export interface Prepared {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body?: Uint8Array<ArrayBuffer> | undefined
  /** For a response without an end. */
  readonly headOnly: boolean
}

/** A response whose bytes were counted and dropped. */
export interface Answer {
  readonly status: number
  readonly bytes: number
  /** The beginning of the body. */
  readonly text: string
}

/** A client in a thread of its own, so that its work is not in the turns of the server, which runs in this thread. */
export class MeasuringClient implements AsyncDisposable {
  readonly #worker = new Worker(new URL('./client-thread.ts', import.meta.url))

  async send(prepared: Prepared): Promise<Answer> {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(prepared)
    const [answer] = (await once(this.#worker, 'message')) as [Answer | { error: string }]
    if ('error' in answer)
      throw new Error(`${prepared.method} ${prepared.url.slice(0, 200)}: ${answer.error}`)
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}
