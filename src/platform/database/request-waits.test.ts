import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Overdue } from '../../base/scheduling/index.ts'
import { DatabaseError } from './errors.ts'
import { RequestWait, RequestWaits, waitLimits } from './request-waits.ts'

const REQUEST_MS = 200
const never = new Promise<never>(() => {})

/** The reason of the error behind a request that is overdue. */
async function reasonOf(result: Promise<unknown>): Promise<string> {
  const error = await result.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof Overdue && error.cause instanceof DatabaseError)
  return error.cause.reason
}

describe('a request that waits for the database', () => {
  const usual = { ...waitLimits }
  // The timer of a deadline does not keep the process alive.
  let alive: NodeJS.Timeout
  before(() => {
    Object.assign(waitLimits, { requestMs: REQUEST_MS, countedMs: 20 })
    alive = setInterval(() => {}, 1000)
  })
  after(() => {
    Object.assign(waitLimits, usual)
    clearInterval(alive)
  })

  it('has one deadline for all its waits', async () => {
    using waits = new RequestWaits()
    const request = new RequestWait()
    let ended = 0
    const result = waits.guard(
      request,
      (async () => {
        for (;;) {
          await waits.track(request, delay(REQUEST_MS / 4), () => true)
          ended += 1
        }
      })(),
    )
    assert.equal(await reasonOf(result), 'busy')
    assert.ok(ended >= 2, `${ended}`)
    assert.throws(() => waits.enter(request), { reason: 'busy' })
  })

  it('may take any time if its waits are short, or far apart', async () => {
    using waits = new RequestWaits()
    const short = new RequestWait()
    const rare = new RequestWait()
    const work = async (request: RequestWait, waitMs: number, betweenMs: number) => {
      const end = performance.now() + 2.5 * REQUEST_MS
      while (performance.now() < end) {
        waits.enter(request)
        const until = performance.now() + waitMs
        // Blocks, so that a busy machine does not make it longer.
        while (performance.now() < until);
        waits.leave(request)
        await delay(betweenMs)
      }
    }
    await Promise.all([
      waits.guard(short, work(short, 1, 0)),
      waits.guard(rare, work(rare, 25, 2 * REQUEST_MS)),
    ])
  })

  it('is unknown at its deadline if it may have changed something, and refused if what it waits for is withdrawn', async () => {
    using waits = new RequestWaits()
    const overdue = (withdraw: () => boolean, mayHaveChanged = false) => {
      const request = new RequestWait()
      request.mayHaveChanged = mayHaveChanged
      return reasonOf(waits.guard(request, waits.track(request, never, withdraw)))
    }
    assert.deepEqual(
      await Promise.all([overdue(() => true), overdue(() => false), overdue(() => true, true)]),
      ['busy', 'uncertain', 'uncertain'],
    )
  })

  it('leaves what it has started and not awaited without a deadline', async () => {
    using waits = new RequestWaits()
    const request = new RequestWait()
    const late = Promise.withResolvers<void>()
    let background = Promise.resolve()
    await waits.guard(
      request,
      (async () => {
        background = waits.track(request, late.promise, () => assert.fail('it was withdrawn'))
      })(),
    )
    await delay(2 * REQUEST_MS)
    late.resolve()
    await background
    waits.enter(request)
  })
})
