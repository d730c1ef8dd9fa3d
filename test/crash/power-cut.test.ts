import assert from 'node:assert/strict'
import { it } from 'node:test'
import { cannotBuildShim } from '../support/io-shim.ts'
import { testSeed } from '../support/random.ts'
import { rounds } from '../support/tier.ts'
import { cutPower } from './power-cut.ts'

const STATES = Number(process.env['CARREL_TEST_CRASH_STATES'] ?? rounds(12, 36, 200))

it(`a power failure loses nothing acknowledged, in ${STATES} states of a disk`, {
  skip: cannotBuildShim(),
}, async (t) => {
  const { problems } = await cutPower({
    states: STATES,
    seed: testSeed(),
    report: (line) => t.diagnostic(line),
  })
  assert.deepEqual(problems, [])
})
