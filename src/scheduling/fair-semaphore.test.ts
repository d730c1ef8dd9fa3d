import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Busy, FairSemaphore, type FairSemaphoreOptions } from './fair-semaphore.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A semaphore whose work begins in its turn and ends when told to. */
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
      await turn()
    }
  }
  return { semaphore, began, refused, open, run, endAll }
}

describe('a fair semaphore', () => {
  it('begins at once while slots are free, and keys take turns after', async () => {
    const { began, run, endAll, semaphore } = observed({ slots: 2 })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void run('a', name)
    for (const name of ['b1', 'c1', 'b2']) void run(name.slice(0, 1), name)
    assert.deepEqual(began, ['a1', 'a2'])
    assert.deepEqual(semaphore.load, { running: 2, waiting: 6 })
    await endAll()
    assert.deepEqual(began, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
    assert.deepEqual(semaphore.load, { running: 0, waiting: 0 })
  })

  it('lets a key hold no more than its share, and skips it for others', async () => {
    const { began, run, open, endAll } = observed({ slots: 3, perKey: 2 })
    for (const name of ['a1', 'a2', 'a3']) void run('a', name)
    assert.deepEqual(began, ['a1', 'a2'])
    void run('b', 'b1')
    assert.deepEqual(began, ['a1', 'a2', 'b1'])
    void run('b', 'b2')
    open.splice(2, 1)[0]?.end()
    await turn()
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'b2'])
    await endAll()
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'b2', 'a3'])
  })

  it('has a thousand waiters of one key delay another by one', async () => {
    const { began, run, endAll } = observed({ slots: 1 })
    for (let n = 0; n < 1000; n += 1) void run('a', `a${n}`)
    void run('b')
    await endAll()
    assert.deepEqual(began.slice(0, 3), ['a0', 'a1', 'b'])
    assert.equal(began.length, 1001)
  })

  it('is busy for a key that has enough waiting, and for no other', async () => {
    const { run, refused, endAll, began } = observed({ slots: 1, waitingPerKey: 2 })
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run('a', name)
    void run('b', 'b1')
    await turn()
    assert.deepEqual(refused, ['a4 busy'])
    await endAll()
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'a3'])
  })

  it('gives a newcomer the place of the longest line when the queue is full', async () => {
    const { run, refused, endAll, began } = observed({ slots: 1, waiting: 4 })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void run('a', name)
    void run('a', 'a6')
    void run('b', 'b1')
    void run('c', 'c1')
    void run('d', 'd1')
    void run('e', 'e1')
    await turn()
    // Every key has one waiting at the end: the next newcomer would be no better off than who waits.
    assert.deepEqual(refused.toSorted(), ['a3 busy', 'a4 busy', 'a5 busy', 'a6 busy', 'e1 busy'])
    await endAll()
    assert.deepEqual(began, ['a1', 'a2', 'b1', 'c1', 'd1'])
  })

  it('bounds a group of keys together, and has groups take turns', async () => {
    const groups = { link: { slots: 1, waiting: 3 } }
    const { run, refused, endAll, began, open } = observed({ slots: 2, waiting: 6, groups })
    for (let n = 1; n <= 6; n += 1) void run(`link:${n}`)
    assert.deepEqual(began, ['link:1'])
    await turn()
    assert.deepEqual(refused, ['link:5 busy', 'link:6 busy'])
    void run('7')
    assert.deepEqual(began, ['link:1', '7'])
    for (const name of ['7b', '7c', '7d']) void run('7', name)
    void run('8', '8a')
    await turn()
    // The queue is full: an account displaces the latest of the longest line, a link nobody's.
    assert.deepEqual(refused, ['link:5 busy', 'link:6 busy', '7d busy'])
    open.shift()?.end()
    await turn()
    assert.deepEqual(began, ['link:1', '7', '7b'])
    await endAll()
    assert.deepEqual(began, ['link:1', '7', '7b', 'link:2', '8a', 'link:3', '7c', 'link:4'])
  })

  it('forgets a waiter whose signal is aborted, and does not begin one that comes aborted', async () => {
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

  it('answers a waiter that reached its deadline', async () => {
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

  it('refuses what waits and what comes once it is closed, and lets the rest end', async () => {
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

  it('frees the slot of work that fails, and hands its error on', async () => {
    const { run, refused, began, open, endAll } = observed({ slots: 1 })
    void run('a', 'a1')
    void run('a', 'a2')
    open.shift()?.fail(new Error('broke'))
    await turn()
    await endAll()
    assert.deepEqual(refused, ['a1 broke'])
    assert.deepEqual(began, ['a1', 'a2'])
  })
})
