import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkReadiness } from './readiness.ts'

const never = () => new Promise<never>(() => {})
const sound = { ping: async () => {} }
const disk = { state: async () => 'ok' as const }

describe('readiness', () => {
  it('names the first thing that is wrong', async () => {
    assert.deepEqual(await checkReadiness(sound, disk, undefined), {
      ok: true,
      checks: { database: 'ok', disk: 'ok' },
    })
    const full = { state: async () => 'full' as const }
    assert.equal((await checkReadiness(sound, full, undefined)).ok, true)
    const unreachable = { check: async () => false }
    assert.deepEqual(await checkReadiness(sound, disk, unreachable), {
      ok: false,
      checks: { database: 'ok', disk: 'ok', blocks: 'unreachable' },
      reason: 'The block store is unreachable.',
    })
    const gone = { ping: () => Promise.reject(new Error('gone')) }
    assert.equal((await checkReadiness(gone, disk, undefined)).reason, 'The database is unreachable.')
  })

  it('is known within a second, whatever hangs', async () => {
    // The timer of a check that hangs does not keep the process alive.
    const alive = setInterval(() => {}, 1000)
    const began = performance.now()
    const found = await checkReadiness({ ping: never }, { state: never }, undefined)
    clearInterval(alive)
    assert.ok(performance.now() - began < 1500)
    assert.deepEqual(found.checks, { database: 'unresponsive', disk: 'unresponsive' })
    assert.equal(found.reason, 'The database is unresponsive.')
  })
})
