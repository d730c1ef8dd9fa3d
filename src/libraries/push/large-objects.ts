import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type FsId, InvalidObject } from '../../base/objects/index.ts'
import { Mutex } from '../../platform/database/index.ts'
import type { SentObject } from './object-parser.ts'
import type { ReceivedObject } from './received-store.ts'

/** Maximum size of an object's JSON: a folder of about 400,000 entries. */
const LARGEST_OBJECT = 64 * 2 ** 20
/** Heap limit of the worker thread. Parsed JSON takes several times its size. */
const MAX_MEGABYTES = 1024

export interface LargeObjectTask {
  readonly id: FsId
  readonly packed: Uint8Array
  readonly most: number
}

export type LargeObjectAnswer =
  | { readonly object: ReceivedObject }
  | { readonly invalid: string }
  | { readonly failed: string }

/** Parses large objects in a worker thread, one at a time, so that the event loop is not blocked (I9, I10). */
export class LargeObjects implements AsyncDisposable {
  readonly #mutex = new Mutex()
  #worker: Worker | undefined

  /** Throws InvalidObject. */
  async read({ id, packed }: SentObject): Promise<ReceivedObject> {
    const end = await this.#mutex.lock()
    try {
      return result(await this.#ask({ id, packed, most: LARGEST_OBJECT }))
    } finally {
      end()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate()
  }

  async #ask(task: LargeObjectTask): Promise<LargeObjectAnswer> {
    const worker = this.#worker ?? this.#start()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(task)
    // `once` rejects with the error that ended the thread.
    const [answer] = (await once(worker, 'message').catch((error: unknown) => {
      if (isOutOfMemory(error)) return [{ invalid: 'is too large' }]
      throw error
    })) as [LargeObjectAnswer]
    return answer
  }

  #start(): Worker {
    const worker = new Worker(new URL('./large-object-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    })
    worker.unref()
    // The error is passed to the pending request.
    worker.on('error', () => {})
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    this.#worker = worker
    return worker
  }
}

function result(answer: LargeObjectAnswer): ReceivedObject {
  if ('invalid' in answer) throw new InvalidObject(answer.invalid)
  if ('failed' in answer) throw new Error(`an object could not be read: ${answer.failed}`)
  // Structured clone turns Buffers into plain Uint8Arrays.
  return { ...answer.object, data: Buffer.from(answer.object.data) }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}
