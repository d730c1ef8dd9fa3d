import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DomainError } from '../../base/errors.ts'
import { HashQueue } from './hash-queue.ts'

/** Hashes that end on demand of the test, and the order in which they started. */
function watched(queue: HashQueue) {
  const began: string[] = []
  const running: (() => void)[] = []
  const hash = (source: string, subject = 'ann', signal?: AbortSignal) =>
    queue.run({ source, subject, signal }, () => {
      began.push(`${source} ${subject}`)
      return new Promise<void>((resolve) => running.push(resolve))
    })
  /** Ends hashes one after another until none is left. */
  const drain = async () => {
    for (let end = running.shift(); end !== undefined; end = running.shift()) {
      end()
      await settled()
    }
  }
  return { began, running, hash, drain }
}

/** Waits for everything that follows from settled promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

const isBusy = (error: unknown) =>
  error instanceof DomainError && error.fault.code === 'too-many-tries' && error.fault.seconds > 0

describe('HashQueue', () => {
  it('computes as many at once as it has slots, and one per source', async () => {
    const { began, running, hash, drain } = watched(new HashQueue({ slots: 2 }))
    const all = ['a', 'a', 'b', 'c'].map((source) => hash(source))
    await settled()
    assert.deepEqual(began, ['a ann', 'b ann'])
    assert.equal(running.length, 2)
    await drain()
    await Promise.all(all)
    assert.equal(began.length, 4)
  })

  it('lets a newcomer wait for one hash of a source that floods it', async () => {
    const { began, hash, drain } = watched(new HashQueue({ slots: 1 }))
    const flood = Array.from({ length: 25 }, (_, index) => hash('flood', `name ${index}`))
    await settled()
    const newcomer = hash('newcomer')
    await drain()
    await Promise.all([...flood, newcomer])
    assert.ok(began.indexOf('newcomer ann') <= 2, began.join(', '))
  })

  it('serves the subjects of one source in turns', async () => {
    const { began, hash, drain } = watched(new HashQueue({ slots: 2 }))
    const flood = Array.from({ length: 25 }, () => hash('office', 'bob'))
    await settled()
    const other = hash('office', 'ann')
    await drain()
    await Promise.all([...flood, other])
    assert.ok(began.indexOf('office ann') <= 2, began.join(', '))
  })

  it('rejects requests beyond the limit of a source, and still serves the others', async () => {
    const { hash, drain } = watched(new HashQueue({ slots: 1 }))
    const flood = Array.from({ length: 40 }, () => hash('flood'))
    const outcomes = Promise.allSettled(flood)
    await settled()
    const other = hash('other')
    await drain()
    await other
    const refused = (await outcomes).filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 9)
    for (const outcome of refused) assert.ok(outcome.status === 'rejected' && isBusy(outcome.reason))
  })

  it('is unlimited if limits are off', async () => {
    const { hash, drain } = watched(new HashQueue({ slots: 1, bounded: false }))
    const all = Array.from({ length: 500 }, () => hash('tests'))
    await settled()
    await drain()
    await Promise.all(all)
  })

  it('computes nothing for a disconnected caller', async () => {
    const { began, hash, drain } = watched(new HashQueue({ slots: 1 }))
    const first = hash('a')
    const gone = new AbortController()
    const second = hash('b', 'bob', gone.signal)
    await settled()
    gone.abort()
    await assert.rejects(second, { name: 'AbortError' })
    await drain()
    await first
    assert.deepEqual(began, ['a ann'])
  })

  it('continues after a failed hash', async () => {
    const queue = new HashQueue({ slots: 1 })
    const client = { source: 'a', subject: 'ann' }
    await assert.rejects(
      queue.run(client, () => Promise.reject(new Error('no memory'))),
      /no memory/,
    )
    assert.equal(await queue.run(client, () => Promise.resolve(7)), 7)
  })
})
