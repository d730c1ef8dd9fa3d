import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Fault, FaultTable } from '../../src/base/errors.ts'
import type { FaultResponse, SurfaceFaults } from '../../src/platform/http/route.ts'
import { apiFaults } from '../../src/surfaces/api/faults.ts'
import { pageFaults } from '../../src/surfaces/pages/faults.ts'
import { syncFaults } from '../../src/surfaces/sync/faults.ts'
import { downloadFaults, uploadFaults } from '../../src/surfaces/transfer/faults.ts'
import { webdavFaults } from '../../src/surfaces/webdav/faults.ts'

// These lines are checked by the compiler: without the error that is expected, they do not compile.
const { locked: _missing, ...withoutLocked } = syncFaults
// @ts-expect-error a surface lists every fault
const _incomplete: SurfaceFaults = withoutLocked
// @ts-expect-error a table has an entry for every fault
const _incompleteTable: FaultTable<FaultResponse> = withoutLocked
// @ts-expect-error a surface lists nothing that is not a fault
const _unknown: SurfaceFaults = { ...syncFaults, 'no-such-fault': 'unexpected' }

describe('the fault tables of the surfaces', () => {
  const codes = Object.keys(apiFaults).sort() as Fault['code'][]
  const surfaces: Record<string, SurfaceFaults> = {
    api: apiFaults,
    upload: uploadFaults,
    download: downloadFaults,
    pages: pageFaults,
    sync: syncFaults,
    webdav: webdavFaults,
  }
  for (const [name, faults] of Object.entries(surfaces)) {
    it(`lists every fault for ${name}`, () => assert.deepEqual(Object.keys(faults).sort(), codes))
  }

  it('has a response to every fault in the web API', () => {
    assert.deepEqual(
      codes.filter((code) => typeof apiFaults[code] !== 'function'),
      [],
    )
  })
})
