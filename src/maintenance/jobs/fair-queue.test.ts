import assert from 'node:assert/strict'
import { it } from 'node:test'
import { FairQueue } from './fair-queue.ts'

/** Jobs that record their start and end on demand. */
function jobs() {
  const began: string[] = []
  const open: { name: string; end: () => void; fail: () => void }[] = []
  const job = (name: string) => () => {
    began.push(name)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    open.push({ name, end: resolve, fail: () => reject(new Error(name)) })
    return promise
  }
  return { began, open, job }
}

function unexpected(error: unknown): never {
  throw error
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('runs a few at a time, and askers take turns and never have all slots', async () => {
  const { began, open, job } = jobs()
  const queue = new FairQueue(3, unexpected)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) queue.add(1, job(name))
  assert.deepEqual(began, ['a1', 'a2'])
  queue.add(2, job('b1'))
  queue.add(3, job('c1'))
  queue.add(2, job('b2'))
  assert.deepEqual(began, ['a1', 'a2', 'b1'])
  while (open.length > 0) {
    assert.ok(open.length <= 3)
    open.shift()?.end()
    await turn()
  }
  assert.deepEqual(began, ['a1', 'a2', 'b1', 'a3', 'c1', 'b2', 'a4', 'a5'])
})

it('goes on after a job that failed, and reports it', async () => {
  const { began, open, job } = jobs()
  const errors: unknown[] = []
  const queue = new FairQueue(1, (error) => errors.push(error))
  queue.add(1, job('a'))
  queue.add(1, job('b'))
  open[0]?.fail()
  await turn()
  assert.deepEqual(began, ['a', 'b'])
  assert.deepEqual(errors, [new Error('a')])
})

it('stops when what runs has ended, and begins nothing more', async () => {
  const { began, open, job } = jobs()
  const queue = new FairQueue(1, unexpected)
  queue.add(1, job('a'))
  queue.add(1, job('b'))
  const stopping = queue.stop()
  const first = await Promise.race([stopping.then(() => 'stopped'), turn().then(() => 'still running')])
  assert.equal(first, 'still running')
  open[0]?.end()
  await stopping
  assert.deepEqual(began, ['a'])
})
