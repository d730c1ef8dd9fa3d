import assert from 'node:assert/strict'
import { it } from 'node:test'
import { DatabaseError } from '../../platform/database/index.ts'
import { apiFaults } from '../../surfaces/api/faults.ts'
import { pageFaults } from '../../surfaces/pages/faults.ts'
import { syncFaults } from '../../surfaces/sync/faults.ts'
import { uploadFaults } from '../../surfaces/transfer/faults.ts'
import { webdavFaults } from '../../surfaces/webdav/faults.ts'
import { storageFault } from './storage-faults.ts'

const surfaces = { apiFaults, pageFaults, syncFaults, uploadFaults, webdavFaults }

it('a commit whose outcome is unknown is 504 on every surface, without a time to repeat it', () => {
  const error = new Error('an edit failed', { cause: new DatabaseError('uncertain', 'no answer') })
  assert.deepEqual(storageFault(error), { code: 'outcome-unknown' })
  for (const [name, faults] of Object.entries(surfaces)) {
    const respond = faults['outcome-unknown']
    assert.ok(respond !== 'unexpected', name)
    const [status, text, headers = {}] = respond({ code: 'outcome-unknown' })
    assert.equal(status, 504, name)
    assert.match(text, /not known whether/, name)
    assert.ok(!('Retry-After' in headers), name)
  }
})

it('a failure is that of the request, also if a disposal failed after it', async () => {
  const fails = async () => {
    await using _held = {
      [Symbol.asyncDispose]: () => Promise.reject(new Error('cannot release it')),
    }
    throw new Error('an edit failed', { cause: new DatabaseError('unreachable', 'no connection') })
  }
  assert.equal(storageFault(await fails().catch((error: unknown) => error))?.code, 'busy')
})

it('a database out of reach is 503 on every surface, with a time to repeat the request', () => {
  for (const reason of ['busy', 'unreachable'] as const) {
    const fault = storageFault(new DatabaseError(reason, 'no connection'))
    assert.ok(fault?.code === 'busy')
    for (const [name, faults] of Object.entries(surfaces)) {
      const respond = faults.busy
      assert.ok(respond !== 'unexpected', name)
      const [status, , headers = {}] = respond(fault)
      assert.equal(status, 503, name)
      assert.ok('Retry-After' in headers, name)
    }
  }
})
