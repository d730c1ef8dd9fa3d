import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Busy, FairSemaphore, type FairSemaphoreOptions } from './fair-semaphore.ts'

const nextTick = () => new Promise((resolve) => setImmediate(resolve))

/** A semaphore that records what begins. The test ends each piece of work. */
function observed(options: FairSemaphoreOptions) {
  const semaphore = new FairSemaphore(options)
  const began: string[] = []
  const refused: string[] = []
  const open: { name: string; end: () => void; fail: (error: Error) => void }[] = []
  const run = (key: string, name = key, signal?: AbortSignal) =>
    semaphore
      .run(
        key,
        () => {
          began.push(name)
          const { promise, resolve, reject } = Promise.withResolvers<void>()
          open.push({ name, end: resolve, fail: reject })
          return promise
        },
        signal,
      )
      .catch((error) => {
        refused.push(error instanceof Busy ? `${name} busy` : `${name} ${error.message}`)
      })
  const endAll = async () => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      next.end()
      await nextTick()
    }
  }
  return { semaphore, began, refused, open, run, endAll }
}

describe('a fair semaphore', () => {
  it('starts work at once while slots are free, then serves keys round robin', async () => {
    const { began, run, endAll, semaphore } = observed({ slots: 2 })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void run('a', name)
    for (const name of ['b1', 'c1', 'b2']) void run(name.slice(0, 1), name)
    assert.deepEqual(began, ['a1', 'a2'])
    assert.deepEqual(semaphore.load, { running: 2, waiting: 6 })
    await endAll()
    assert.deepEqual(began, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
    assert.deepEqual(semaphore.load, { running: 0, waiting: 0 })
  })

  it('limits the slots of a key and serves other keys instead', async () => {
    const { began, run, open, endAll } = observed({ slots: 3, perKey: 2 })
    for (const name of ['a1', 'a2', 'a3']) void run('a', name)
    assert.deepEqual(began, ['a1', 'a2'])
    void run('b', 'b1')
    assert.deepEqual(began, ['a1', 'a2', 'b1'])
    void run('b', 'b2')
    open.splice(2, 1)[0]?.end()
    await nextTick()
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'b2'])
    await endAll()
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'b2', 'a3'])
  })

  it('delays the waiter of one key by only one of the thousand waiters of another', async () => {
    const { began, run, endAll } = observed({ slots: 1 })
    for (let n = 0; n < 1000; n += 1) void run('a', `a${n}`)
    void run('b')
    await endAll()
    assert.deepEqual(began.slice(0, 3), ['a0', 'a1', 'b'])
    assert.equal(began.length, 1001)
  })

  it('rejects a key whose queue is full, but no other key', async () => {
    const { run, refused, endAll, began } = observed({ slots: 1, waitingPerKey: 2 })
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run('a', name)
    void run('b', 'b1')
    await nextTick()
    assert.deepEqual(refused, ['a4 busy'])
    await endAll()
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'a3'])
  })

  it('displaces a waiter of the longest queue when the whole queue is full', async () => {
    const { run, refused, endAll, began } = observed({ slots: 1, waiting: 4 })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void run('a', name)
    void run('a', 'a6')
    void run('b', 'b1')
    void run('c', 'c1')
    void run('d', 'd1')
    void run('e', 'e1')
    await nextTick()
    // Each key has one waiter in the end, so displacing one of them would not be fairer.
    assert.deepEqual(refused.toSorted(), ['a3 busy', 'a4 busy', 'a5 busy', 'a6 busy', 'e1 busy'])
    await endAll()
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'c1', 'd1'])
  })

  it('limits a group of keys as a whole and serves groups round robin', async () => {
    const groups = { link: { slots: 1, waiting: 3 } }
    const { run, refused, endAll, began, open } = observed({ slots: 2, waiting: 6, groups })
    for (let n = 1; n <= 6; n += 1) void run(`link:${n}`)
    assert.deepEqual(began, ['link:1'])
    await nextTick()
    assert.deepEqual(refused, ['link:5 busy', 'link:6 busy'])
    void run('7')
    assert.deepEqual(began, ['link:1', '7'])
    for (const name of ['7b', '7c', '7d']) void run('7', name)
    void run('8', '8a')
    await nextTick()
    // The queue is full: an account displaces the latest waiter of the longest queue. A link displaces none.
    assert.deepEqual(refused, ['link:5 busy', 'link:6 busy', '7d busy'])
    open.shift()?.end()
    await nextTick()
    assert.deepEqual(began, ['link:1', '7', '7b'])
    await endAll()
    assert.deepEqual(began, ['link:1', '7', '7b', 'link:2', '8a', 'link:3', '7c', 'link:4'])
  })

  it('removes a waiter whose signal is aborted and rejects an aborted signal at once', async () => {
    const { run, refused, began, endAll } = observed({ slots: 1 })
    const [left, never] = [new AbortController(), AbortSignal.abort(new Error('came late'))]
    void run('a', 'a1')
    void run('a', 'a2', left.signal)
    void run('a', 'a3')
    void run('b', 'b1', never)
    left.abort(new Error('went away'))
    await endAll()
    assert.deepEqual(refused, ['b1 came late', 'a2 went away'])
    assert.deepEqual(began, ['a1', 'a3'])
  })

  it('rejects a waiter that reached its deadline', async () => {
    const semaphore = new FairSemaphore({ slots: 1, waitMs: 1, retryAfterSeconds: 7 })
    const { promise, resolve } = Promise.withResolvers<void>()
    const first = semaphore.run('a', () => promise)
    await assert.rejects(
      semaphore.run('b', () => assert.fail('it began')),
      (error) => error instanceof Busy && error.retryAfterSeconds === 7,
    )
    resolve()
    await first
    assert.deepEqual(semaphore.load, { running: 0, waiting: 0 })
  })

  it('rejects waiting and later work once closed, and lets running work finish', async () => {
    const { semaphore, run, refused, began, endAll } = observed({ slots: 1 })
    void run('a', 'a1')
    void run('a', 'a2')
    void run('b', 'b1')
    semaphore.close(new Error('closed'))
    void run('c', 'c1')
    await endAll()
    assert.deepEqual(refused.toSorted(), ['a2 closed', 'b1 closed', 'c1 closed'])
    assert.deepEqual(began, ['a1'])
    assert.deepEqual(semaphore.load, { running: 0, waiting: 0 })
  })

  it('frees the slot of failed work and rethrows its error', async () => {
    const { run, refused, began, open, endAll } = observed({ slots: 1 })
    void run('a', 'a1')
    void run('a', 'a2')
    open.shift()?.fail(new Error('broke'))
    await nextTick()
    await endAll()
    assert.deepEqual(refused, ['a1 broke'])
    assert.deepEqual(began, ['a1', 'a2'])
  })
})
