import assert from 'node:assert/strict'
import { it } from 'node:test'
import { MutationCopy } from './mutate.ts'
import { SAFEGUARDS } from './safeguards.ts'

const quick = SAFEGUARDS.filter((safeguard) => safeguard.quick)

it(`tests fail when one of ${quick.length} safeguards is disabled`, async (t) => {
  using copy = new MutationCopy()
  for (const safeguard of quick) {
    const { outcome, by, seconds } = await copy.verdictOf(safeguard, t.signal)
    t.diagnostic(`${safeguard.invariant} ${safeguard.name}: ${outcome} (${seconds.toFixed(1)} s) ${by}`)
    assert.equal(outcome, 'noticed', `${safeguard.name}: ${by}`)
  }
})
