import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { seededRandom, testSeed } from '../support/random.ts'
import { sampleOfDatabase } from '../support/tier.ts'
import { startTwoServers, type TwoServers } from '../support/two-servers.ts'
import { endings } from './matrix/endings.ts'
import { countedTables, NO_LEFTOVERS } from './matrix/leftovers.ts'
import { runEnding, runLeftovers } from './matrix/revocation.ts'
import { Cast } from './matrix/stage.ts'
import { table } from './matrix/table.ts'
import { runViewEnding, sharedItems, viewEndings } from './matrix/view-revocation.ts'

const seed = testSeed()

/** Permissions are revoked at `here`. `there` is another process, which learns of it only through the database. */
let servers: TwoServers
let cast: Cast
before(async () => {
  servers = await startTwoServers({ CARREL_WEBHOOK_PRIVATE: 'on' })
  cast = await Cast.make(servers.here)
})
after(() => servers[Symbol.asyncDispose]())

describe(`a revoked permission is rejected by the next request at each of two processes (seed ${seed})`, () => {
  for (const ending of sampleOfDatabase(endings, 3, seed)) {
    it(`when ${ending.name}`, async (t) => {
      const { here, there } = servers
      const { endpoints } = here.running
      const random = seededRandom(seed)
      const { calls, surprises } = await runEnding(
        ending,
        cast,
        [here.url, there.url],
        endpoints,
        table,
        random,
      )
      t.diagnostic(`${calls} calls`)
      assert.ok(surprises.length === 0, surprises.join('\n'))
    })
  }
})

describe(`what an ended permission leaves behind (seed ${seed})`, () => {
  for (const ending of sampleOfDatabase(endings, 6, seed)) {
    it(`is what the table says, when ${ending.name}`, async () => {
      assert.deepEqual(await runLeftovers(ending, cast), [])
    })
  }

  it('is known for every table that refers to an account', async () => {
    const { db } = servers.here.running.services
    const tables =
      process.env['CARREL_TEST_DATABASE'] === 'postgres'
        ? await db.all<{ name: string }>(
            `select distinct conrelid::regclass::text as name from pg_constraint
             where contype = 'f' and confrelid = 'account'::regclass`,
          )
        : await db.all<{ name: string }>(
            `select distinct m.name from sqlite_master m join pragma_foreign_key_list(m.name) f
             where m.type = 'table' and f."table" = 'account'`,
          )
    assert.ok(tables.length > 20)
    const unknown = tables.map(({ name }) => name).filter((name) => !countedTables.has(name))
    assert.deepEqual(
      unknown.filter((name) => NO_LEFTOVERS[name] === undefined),
      [],
      'say in test/api/matrix/leftovers.ts what becomes of these rows when a permission ends',
    )
    assert.deepEqual(
      Object.keys(NO_LEFTOVERS).filter((name) => !unknown.includes(name)),
      [],
    )
  })
})

describe(`a folder or file that is no longer shared is rejected by the next request (seed ${seed})`, () => {
  const cases = viewEndings.flatMap((ending) => sharedItems.map((item) => ({ ending, item })))
  for (const { ending, item } of sampleOfDatabase(cases, 1, seed)) {
    it(`the ${item.kind}, when ${ending.name}`, async (t) => {
      const { here, there } = servers
      const { calls, allowed, surprises } = await runViewEnding(
        ending,
        item,
        cast,
        [here.url, there.url],
        here.running.endpoints,
        table,
        seededRandom(seed),
      )
      t.diagnostic(`${calls} calls, ${allowed} of them answered before`)
      assert.ok(allowed >= (item.kind === 'folder' ? 25 : 15), `only ${allowed} calls were answered before`)
      assert.ok(surprises.length === 0, surprises.join('\n'))
    })
  }
})
