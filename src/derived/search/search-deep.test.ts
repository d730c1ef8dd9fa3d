import assert from 'node:assert/strict'
import { it } from 'node:test'
import { at } from '../../../test/support/core.ts'
import { onBothDatabases } from '../../../test/support/databases.ts'
import { openSearch } from '../../../test/support/search.ts'
import { fileDirent } from '../../base/objects/dirent.ts'
import { EMPTY_ID } from '../../base/objects/ids.ts'
import type { Database, Value } from '../../platform/database/database.ts'
import { listEntriesIn } from './entry-store.ts'
import { rootKeyOf } from './keys.ts'
import { SearchIndex } from './search-index.ts'

const LEVELS = 300
// Queries of a step that do not depend on the tree.
const FIXED = 20

onBothDatabases('the index of a deep folder', (fresh) => {
  it('is updated with one query per level, and each name looked up once', async (t) => {
    let now = 1_700_000_000
    await using opened = await openSearch(t, fresh, { now: () => now })
    if (opened === undefined) return
    const { stage, db } = opened
    const reads = { queries: 0, parameters: 0 }
    const index = new SearchIndex({
      core: stage.core,
      libraryDb: stage.db,
      db: counting(db, reads),
      isExtractable: () => false,
      onPending() {},
      onError: assert.ifError,
    })
    t.after(() => index.stop())
    const library = await stage.newLibrary(await stage.actor())
    const deep = at('/d'.repeat(LEVELS))
    const made = await library.commit(async (tree) => {
      await tree.makeDirs(deep)
      return { description: 'deep', result: 0 }
    })
    await index.catchUp(made.library)
    for (const name of ['first', 'second']) {
      now += 10
      const added = await library.commit(async (tree) => {
        await tree.put(deep, fileDirent({ id: EMPTY_ID, name, size: 0, mtime: now, modifier: '' }))
        return { description: name, result: 0 }
      })
      Object.assign(reads, { queries: 0, parameters: 0 })
      await index.catchUp(added.library)
      assert.ok(reads.queries <= LEVELS + FIXED, `${reads.queries} queries`)
      // A name and the key of its folder.
      assert.ok(reads.parameters <= 2 * LEVELS + FIXED, `${reads.parameters} parameters`)
    }
    let key = rootKeyOf(library.info.key)
    for (let level = 0; level < LEVELS; level++) {
      const [folder] = await listEntriesIn(db, key)
      assert.deepEqual([folder?.name, folder?.mtime], ['d', now], `level ${level}`)
      key = folder?.key ?? 0
    }
    const files = await listEntriesIn(db, key)
    assert.deepEqual(
      files.map(({ name }) => name),
      ['first', 'second'],
    )
  })
})

/** The database, with its reads outside of transactions counted. */
function counting(db: Database, reads: { queries: number; parameters: number }): Database {
  const count = (parameters: readonly Value[]) => {
    reads.queries += 1
    reads.parameters += parameters.length
  }
  return new Proxy(db, {
    get(target, name) {
      if (name === 'all')
        return (sql: string, ...parameters: Value[]) => {
          count(parameters)
          return target.all(sql, ...parameters)
        }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
