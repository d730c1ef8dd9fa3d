import assert from 'node:assert/strict'
import { it } from 'node:test'
import { testSeed } from '../support/random.ts'
import { s3OrSkip } from '../support/s3.ts'
import { limitRequests } from './attempts.ts'
import { FAULTS } from './faults.ts'
import { injectFaults } from './inject.ts'

const SECONDS = 2
const selected = FAULTS.filter((fault) => fault.selected)
const seed = testSeed()

it(`${selected.length} faults under mixed load lose nothing that three nodes acknowledged`, async (t) => {
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  const s3 = await s3OrSkip(t, 'ceph')
  if (s3 === undefined) return
  await using _s3 = s3
  using _limit = limitRequests()
  const reports = await injectFaults({ faults: selected, s3, seed, mostSeconds: SECONDS })
  for (const { fault, counts, recoverySeconds } of reports) {
    const { operations, acknowledged, retried, errors, violations } = counts
    t.diagnostic(
      `${fault.name}: ${operations} operations, ${acknowledged} acknowledged, ${retried} retried, ${errors} errors, recovered in ${recoverySeconds.toFixed(1)} s`,
    )
    assert.deepEqual(violations, [], fault.name)
    assert.ok(acknowledged > 0)
  }
})
