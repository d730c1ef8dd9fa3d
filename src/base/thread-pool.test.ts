import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ThreadPool } from './thread-pool.ts'

interface Request {
  readonly value: number
  /** The thread waits until it is not 0. */
  readonly wait?: Int32Array
  /** The thread ends with this code. */
  readonly end?: number
}

function openPool(
  threads: number,
): ThreadPool<Request, { readonly product: number; readonly thread: number }> {
  return new ThreadPool(new URL('../../test/support/thread-pool.fixture.ts', import.meta.url), {
    threads,
    workerData: 10,
  })
}

/** A flag that threads can wait for. */
const newFlag = () => new Int32Array(new SharedArrayBuffer(4))

function raise(flag: Int32Array): void {
  Atomics.store(flag, 0, 1)
  Atomics.notify(flag, 0)
}

describe('a thread pool', () => {
  it('answers each request, with no more threads than allowed', async () => {
    await using pool = openPool(2)
    const replies = await Promise.all(Array.from({ length: 20 }, (_, value) => pool.run({ value })))
    assert.deepEqual(
      replies.map(({ product }) => product),
      Array.from({ length: 20 }, (_, value) => 10 * value),
    )
    assert.ok(new Set(replies.map(({ thread }) => thread)).size <= 2)
  })

  it('answers requests in idle threads while another one works', async () => {
    await using pool = openPool(2)
    const flag = newFlag()
    const long = pool.run({ value: 1, wait: flag })
    for (const value of [2, 3]) assert.equal((await pool.run({ value })).product, 10 * value)
    raise(flag)
    assert.equal((await long).product, 10)
  })

  it('fails all requests once a thread has ended', async () => {
    await using pool = openPool(1)
    const requests = [pool.run({ value: 1, end: 3 }), pool.run({ value: 2 })]
    for (const request of requests) await assert.rejects(request, /a thread ended with code 3/)
    await assert.rejects(pool.run({ value: 4 }), /a thread ended with code 3/)
  })

  it('fails the requests that are not answered when it is closed', async () => {
    const pool = openPool(1)
    const requests = [pool.run({ value: 1, wait: newFlag() }), pool.run({ value: 2 })]
    const rejected = Promise.all(
      requests.map((request) => assert.rejects(request, /the threads were closed/)),
    )
    await pool[Symbol.asyncDispose]()
    await rejected
  })
})
