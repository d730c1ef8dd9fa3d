import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { waitLimits } from '../../platform/database/index.ts'
import { checkReadiness } from './readiness.ts'

const never = () => new Promise<never>(() => {})
const sound = { ping: async () => {} }
const edits = { oldestWaitMs: 0 }
const disk = { state: async () => 'ok' as const }

describe('readiness', () => {
  it('names the first thing that is wrong', async () => {
    assert.deepEqual(await checkReadiness(sound, disk, undefined, edits), {
      ok: true,
      checks: { database: 'ok', disk: 'ok', writers: 'ok' },
    })
    const full = { state: async () => 'full' as const }
    assert.equal((await checkReadiness(sound, full, undefined, edits)).ok, true)
    const unreachable = { check: async () => false }
    assert.deepEqual(await checkReadiness(sound, disk, unreachable, edits), {
      ok: false,
      checks: { database: 'ok', disk: 'ok', writers: 'ok', blocks: 'unreachable' },
      reason: 'The block store is unreachable.',
    })
    const gone = { ping: () => Promise.reject(new Error('gone')) }
    assert.equal((await checkReadiness(gone, disk, undefined, edits)).reason, 'The database is unreachable.')
  })

  it('is refused while the changes of libraries get no answer', async () => {
    const stuck = { oldestWaitMs: waitLimits.requestMs / 2 }
    const { ok, checks, reason } = await checkReadiness(sound, disk, undefined, stuck)
    assert.deepEqual({ ok, writers: checks['writers'] }, { ok: false, writers: 'stuck' })
    assert.equal(reason, 'Changes of libraries wait for the database.')
  })

  it('is known within a second, whatever hangs', async () => {
    // The timer of a check that hangs does not keep the process alive.
    const alive = setInterval(() => {}, 1000)
    const began = performance.now()
    const found = await checkReadiness({ ping: never }, { state: never }, undefined, edits)
    clearInterval(alive)
    assert.ok(performance.now() - began < 1500)
    assert.deepEqual(found.checks, { database: 'unresponsive', disk: 'unresponsive', writers: 'ok' })
    assert.equal(found.reason, 'The database is unresponsive.')
  })
})
