import assert from 'node:assert/strict'
import { it } from 'node:test'
import { testSeed } from '../support/random.ts'
import { soak } from './soak.ts'

it('three minutes of mixed load leave memory, descriptors, disk and latency flat', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const seed = testSeed()
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  const report = await soak({ seconds: 180, idleSeconds: 0, paceMs: 50, seed, sampleMs: 2000 })
  for (const { title, trend } of report.trends) t.diagnostic(`${title}: ${JSON.stringify(trend)}`)
  t.diagnostic(`operations: ${JSON.stringify([...report.counts])}`)
  for (const { title, trend } of report.trends) assert.ok(trend.isFlat, `${title}: ${JSON.stringify(trend)}`)
})
