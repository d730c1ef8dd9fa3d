import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ROOT } from '../../src/base/paths/paths.ts'
import { makeFolder } from '../../src/libraries/edits/entries.ts'
import { copy } from '../../src/libraries/edits/move-copy.ts'
import { createLibraryCore, dbOf } from '../../src/libraries/library/core.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { getLibrary } from '../../src/libraries/library/libraries.ts'
import { Library } from '../../src/libraries/library/library.ts'
import { countAllDirs } from '../../src/libraries/registry/dir-count-backfill.ts'
import { countDirs } from '../../src/libraries/tree/dir-counts.ts'
import { Audit } from '../../src/people/audit/audit.ts'
import { libraryDependents, pathBindings } from '../../src/programs/assembly/dependents.ts'
import { at, openTestCore } from '../support/core.ts'

it('counts the folders of a tree stored before counts existed, however many paths lead to each', async () => {
  await using test = await openTestCore()
  const { core, db } = test
  const actor = await test.actor()
  const made = await test.newLibrary(actor)
  const unlimited = async () => undefined
  await makeFolder(made, at('/n0'))
  for (let level = 1; level <= 40; level++) {
    await makeFolder(made, at(`/n${level}`))
    for (let times = 0; times < 2; times++) {
      const library = await test.reopen(made)
      const chosen = { parent: ROOT, names: [`n${level - 1}`] }
      await copy(core, library, chosen, library, at(`/n${level}`), unlimited)
    }
  }
  // Below /n(k): two copies of /n(k-1) with their subtrees.
  const below = (level: number): number => (level === 0 ? 0 : 2 * (1 + below(level - 1)))
  const all = Array.from({ length: 41 }, (_, level) => 1 + below(level)).reduce((sum, one) => sum + one)
  const info = await getLibrary(core, made.info.id)
  assert.equal((await storesOf(core).objects.getDir(info.key, info.root)).dirCount, all)

  await db.write((tx) => tx.run('update fs_object set dir_count = null'))
  await countAllDirs({ db: dbOf(core), objects: storesOf(core).objects })
  assert.equal(await storesOf(core).objects.storedDirCount(info.key, info.root), all)

  await db.write((tx) => tx.run('update fs_object set dir_count = null'))
  await using later = createLibraryCore({
    audit: new Audit(db, core.now, -1),
    db,
    blocks: test.blocks,
    now: core.now,
    dirCacheBytes: 2 ** 20,
    defaultHistoryDays: -1,
    dependents: libraryDependents,
    pathBindings,
    entryLimits: { library: all + 1 },
    onConsumerError(error) {
      throw error
    },
  })
  const root = await storesOf(later).objects.getDir(info.key, info.root)
  assert.equal(root.dirCount, undefined)
  const library = new Library(later, info, actor, 'rw').editable(ROOT)
  const { library: after } = await makeFolder(library, at('/one-more'))
  assert.equal((await storesOf(later).objects.getDir(info.key, after.root)).dirCount, all + 1)
  await assert.rejects(makeFolder(library, at('/too-many')), { name: 'DomainError' })
  assert.equal(await countDirs(storesOf(later).objects, info.key, info.root), all)
})
