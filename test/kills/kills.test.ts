import assert from 'node:assert/strict'
import { it } from 'node:test'
import { testSeed } from '../support/random.ts'
import { killRepeatedly } from './kills.ts'
import { killMigrations } from './migration-kills.ts'

const KILLS = 12
const MIGRATION_KILLS = 4
const seed = testSeed()

it(`killed ${KILLS} times under every kind of write, a server loses nothing it acknowledged`, async (t) => {
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  const { acknowledged, cutOff, backupsKilled, collectionsKilled, restored } = await killRepeatedly({
    count: KILLS,
    seed,
  })
  t.diagnostic(`acknowledged: ${JSON.stringify([...acknowledged])}`)
  t.diagnostic(`cut off: ${JSON.stringify([...cutOff])}`)
  t.diagnostic(
    `${backupsKilled} backups and ${collectionsKilled} collections killed, ${restored} servers restored`,
  )
  for (const [kind, n] of acknowledged) assert.ok(n > 0, kind)
})

it(`killed ${MIGRATION_KILLS} times while it migrates, a data folder still opens with all its files`, async (t) => {
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  assert.equal(await killMigrations({ count: MIGRATION_KILLS, seed }), MIGRATION_KILLS)
})
