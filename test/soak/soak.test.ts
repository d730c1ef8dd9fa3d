import assert from 'node:assert/strict'
import { it } from 'node:test'
import { testSeed } from '../support/random.ts'
import { rounds } from '../support/tier.ts'
import { isSettledSmall } from './settle.ts'
import { soak } from './soak.ts'

const SECONDS = rounds(120, 120, 180)
/** Growth over the second half, as a share of the mean. Other tests on the machine change how much load there is. */
const ALLOWED: Readonly<Record<string, number>> = { 'resident memory (MB)': 0.25, 'open descriptors': 0.25 }

// Latency and the disk during the load follow the speed of the machine, so only the long run by hand judges them. What is left on disk in
// the end does not.
it(`${SECONDS} s of mixed load get right answers, leave memory and descriptors flat, and no garbage`, {
  skip: process.platform !== 'linux',
}, async (t) => {
  const seed = testSeed()
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  const report = await soak({
    seconds: SECONDS,
    idleSeconds: 0,
    paceMs: rounds(1000, 1000, 200),
    seed,
    sampleMs: 2000,
  })
  for (const { title, trend } of report.trends) t.diagnostic(`${title}: ${JSON.stringify(trend)}`)
  t.diagnostic(`operations: ${JSON.stringify([...report.counts])}`)
  t.diagnostic(`settled: ${JSON.stringify(report.settled)}`)
  assert.ok(isSettledSmall(report.settled), JSON.stringify(report.settled))
  const judged = report.trends.filter(({ title }) => ALLOWED[title] !== undefined)
  assert.equal(judged.length, 2)
  for (const { title, trend } of judged) {
    assert.ok(trend.growth <= (ALLOWED[title] ?? 0) * trend.mean, `${title}: ${JSON.stringify(trend)}`)
  }
})
