import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { HostileFrame } from '../../../test/support/hostile-worker/hostile-worker.ts'
import { hostilePool } from '../../../test/support/worker-pool.ts'

describe('the server that started a hostile worker process', () => {
  let pool: ReturnType<typeof hostilePool>
  const children: ChildProcess[] = []
  const remember = (message: unknown) => children.push((message as { process: ChildProcess }).process)
  beforeEach(() => {
    children.length = 0
    subscribe('child_process', remember)
    pool = hostilePool()
  })
  afterEach(async () => {
    unsubscribe('child_process', remember)
    await pool.close()
  })

  const json = (value: unknown) => {
    const text = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(text.length)
    return Buffer.concat([length, text]).toString('latin1')
  }
  const frame = (kind: number, text: string): HostileFrame => ({ kind, claims: text.length, text })
  const deep = `{"result":${'['.repeat(5000)}${']'.repeat(5000)},"recycle":false}`
  const said: { readonly [name: string]: readonly HostileFrame[] } = {
    'of an unknown kind': [frame(9, json({ result: {}, recycle: false }))],
    'that is no JSON': [frame(2, json('{"result":'))],
    'that is no message': [frame(2, 'xy')],
    'that ends before its JSON does': [frame(2, '\xff\xff\xff\xff{}')],
    'of four gigabytes': [{ kind: 2, claims: 2 ** 32 - 1, text: 'x'.repeat(1024), times: 1 }],
    'without an object': [frame(2, json('7'))],
    'without a result': [frame(2, json({ recycle: false }))],
    'with a result of another kind': [frame(2, json({ result: 'a text', recycle: false }))],
    'that is nested five thousand times': [frame(2, json(deep))],
    'with a hundred thousand values': [frame(2, json({ result: Array(1e5).fill(0), recycle: false }))],
    'with bytes that it does not have': [
      frame(2, json({ result: { a: { $bytes: [0, 5] } }, recycle: false })),
    ],
    'with negative bytes': [frame(2, json({ result: { a: { $bytes: [-5, 2] } }, recycle: false }))],
    'that says again that it is ready': [frame(1, json({}))],
  }
  for (const [name, frames] of Object.entries(said))
    it(`kills a worker with a message ${name}, and goes on`, async () => {
      assert.deepEqual(await pool.run({ kind: 'say', frames }), { failure: 'crashed' })
      const next = await pool.run({ kind: 'remember' }, 'a', 'next')
      assert.ok('result' in next)
      assert.equal(children.length, 2)
    })

  it('takes nothing of a prototype from a message', async () => {
    const text =
      '{"result":{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}},"recycle":true}'
    const outcome = await pool.run({ kind: 'say', frames: [frame(2, json(text))] })
    assert.ok('result' in outcome)
    assert.equal(Object.getPrototypeOf(outcome.result), Object.prototype)
    assert.equal('isAdmin' in {}, false)
    assert.equal('isAdmin' in outcome.result, false)
  })

  it('takes one result, and kills a worker that sends another unasked', async () => {
    const done = frame(2, json({ result: { first: true }, recycle: false }))
    const outcome = await pool.run({ kind: 'say', frames: [done, done] })
    assert.deepEqual(outcome, { result: { first: true } })
    const [child] = children
    if (child?.exitCode === null && child.signalCode === null) await once(child, 'exit')
    assert.equal(child?.signalCode, 'SIGKILL')
  })

  it('kills a worker that writes without end to stderr', async () => {
    assert.deepEqual(await pool.run({ kind: 'flood' }), { failure: 'killed' })
  })

  it('never gives a worker the files of two accounts', async () => {
    pool = hostilePool(2)
    const seen = async (origin: string, text: string) => {
      const outcome = await pool.run({ kind: 'remember' }, origin, text)
      assert.ok('result' in outcome)
      return outcome.result as { seen: string[]; process: number }
    }
    const first = await seen('ann', 'of Ann')
    const again = await seen('ann', 'also of Ann')
    // One account uses the same process again.
    assert.deepEqual(again, { seen: ['of Ann', 'also of Ann'], process: first.process })
    assert.deepEqual((await seen('bob', 'of Bob')).seen, ['of Bob'])
    assert.deepEqual((await seen('eve', 'of Eve')).seen, ['of Eve'])
    // Two processes at most have had a job, and one more waits for a new account.
    await seen('bob', 'also of Bob')
    const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null
    const ended = children.filter((child) => child.killed && isRunning(child))
    await Promise.all(ended.map((child) => once(child, 'exit')))
    assert.equal(children.filter(isRunning).length, 3)
  })
})
