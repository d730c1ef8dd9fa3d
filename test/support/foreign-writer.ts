import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { DatabaseSetting } from '../../src/platform/database/open.ts'
import type { ForeignData, ForeignOrder } from './database/foreign.fixture.ts'

const DEADLINE_MS = 60_000
const CLOSE_DEADLINE_MS = 10_000

/** Another client of the same database, in a thread of its own, so that a test can wait for it while its own event loop is blocked. */
export class ForeignWriter implements AsyncDisposable {
  readonly #worker: Worker
  readonly #done = new Int32Array(new SharedArrayBuffer(8))
  #ordered = 0

  constructor(setting: DatabaseSetting) {
    const workerData: ForeignData = { setting, done: this.#done }
    const fixture = new URL('./database/foreign.fixture.ts', import.meta.url)
    this.#worker = new Worker(fixture, { workerData })
  }

  /** Blocks the event loop until all orders so far are done. */
  block(): void {
    const deadline = performance.now() + DEADLINE_MS
    for (let done = this.#take(); done < this.#ordered; done = this.#take()) {
      assert.ok(performance.now() < deadline, 'the foreign writer did not answer in time')
      Atomics.wait(this.#done, 0, done, 1000)
    }
  }

  order(order: ForeignOrder): void {
    this.#ordered += 1
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(order)
  }

  /** Commits a statement and blocks until it is committed. */
  commit(sql: string): void {
    this.order({ kind: 'commit', sql })
    this.block()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#worker, 'exit')
    this.order({ kind: 'close' })
    // A writer that is stuck in an order would never reach the one that closes it.
    const terminate = setTimeout(() => void this.#worker.terminate(), CLOSE_DEADLINE_MS)
    await exited
    clearTimeout(terminate)
  }

  #take(): number {
    assert.equal(Atomics.load(this.#done, 1), 0, 'the foreign writer failed')
    return Atomics.load(this.#done, 0)
  }
}
