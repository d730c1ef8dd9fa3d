import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { it } from 'node:test'
import { onBothDatabases } from '../../../test/support/databases.ts'
import { openSearch } from '../../../test/support/search.ts'
import { ROOT } from '../../base/paths/paths.ts'
import { addFiles } from '../../libraries/edits/upload.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { Database } from '../../platform/database/database.ts'
import { findSearchFaults } from './index-check.ts'
import { SearchIndex } from './search-index.ts'

/** More entries than one transaction of the index writes. */
const MANY = 1001
const LEASE_SECONDS = 60

onBothDatabases('a search index that stood still for longer than its lease', (fresh) => {
  for (const isDone of [true, false]) {
    it(`at any of its writes leaves the library to the later holder, which ${isDone ? 'is done' : 'still writes'}`, async (t) => {
      let now = 1_754_000_000
      await using opened = await openSearch(t, fresh, { now: () => now })
      if (opened === undefined) return
      const { stage, search, db } = opened
      const { core } = stage
      const parts = { core, libraryDb: stage.db, objects: storesOf(core).objects, isExtractable: () => false }
      const indexOn = (own: Database) =>
        new SearchIndex({ ...parts, db: own, onPending: () => {}, onError: () => {} })
      const library = await stage.newLibrary(await stage.actor())
      const info = async () => (await stage.reopen(library)).info
      const add = async (names: readonly string[]) => {
        const content = await core.incoming.receive(Readable.from([Buffer.from('x')]))
        const files = names.map((name) => ({ name, content }))
        await addFiles(core, await stage.reopen(library), ROOT, files)
      }
      const known = () => db.get<{ claim: number }>('select * from search_library')
      await add(Array.from({ length: MANY }, (_, number) => `${number}.bin`))
      await search.index.prepare()
      for (let position = 1; ; position += 1) {
        await db.write((tx) => tx.run('update search_library set seq = 0, claim = 0'))
        let writes = 0
        const stalled = stopping(db, { before: async () => ++writes === position })
        const over = indexOn(stalled.db).catchUp(await info())
        if (!(await Promise.race([stalled.stopped.then(() => true), over.then(() => false)]))) {
          t.diagnostic(`stopped at each of ${writes} writes`)
          assert.ok(writes >= 3)
          return
        }
        now += LEASE_SECONDS + 1
        // What the stalled one is about to write is out of date.
        await add([`new ${position}.bin`])
        const later = stopping(db, { after: async () => !isDone && (await known())?.claim !== 0 })
        const taken = indexOn(later.db).catchUp(await info())
        await (isDone ? taken : later.stopped)
        const before = await known()
        stalled.goOn()
        await stalled.written
        assert.deepEqual(await known(), before, `write ${position}`)
        later.goOn()
        await Promise.all([taken, over])
        const faults = await Array.fromAsync(findSearchFaults({ ...parts, db }, await info()))
        assert.deepEqual(faults, [], `write ${position}`)
        const row = await db.get<{ count: number }>('select count(*) as count from search_entry')
        assert.equal(row?.count, MANY + position, `write ${position}`)
      }
    })
  }
})

/** The database, with writes that stop once until `goOn`. `written` resolves when the first one that did is done. */
function stopping(
  db: Database,
  { before = never, after = never }: { before?: () => Promise<boolean>; after?: () => Promise<boolean> },
) {
  const stopped = Promise.withResolvers<void>()
  const going = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  let hasStopped = false
  const stopIf = async (asked: () => Promise<boolean>) => {
    if (hasStopped || !(await asked())) return
    hasStopped = true
    stopped.resolve()
    await going.promise
  }
  const write = async (...args: Parameters<Database['write']>) => {
    await stopIf(before)
    const isLate = hasStopped
    try {
      return await db.write(...args)
    } finally {
      await stopIf(after)
      if (isLate) written.resolve()
    }
  }
  const own = Object.create(db, {
    write: { value: write },
    dialect: { value: db.dialect },
    get: { value: db.get.bind(db) },
    all: { value: db.all.bind(db) },
  }) as Database
  return { db: own, stopped: stopped.promise, written: written.promise, goOn: () => going.resolve() }
}

async function never(): Promise<boolean> {
  return false
}
