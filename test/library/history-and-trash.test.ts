import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ROOT } from '../../src/base/paths/paths.ts'
import { createFile, makeFolders, remove, removeOne, rename } from '../../src/libraries/edits/entries.ts'
import { LibraryHistory } from '../../src/libraries/history/library-history.ts'
import { findFirstSeen } from '../../src/libraries/history/path-index-store.ts'
import { deleteUnlistedTrash, type listTrashPage } from '../../src/libraries/history/trash.ts'
import { setKeepDays } from '../../src/libraries/library/administration.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { emptyTrash } from '../../src/libraries/library/library-trash.ts'
import { at, openTestCore, type TestCore } from '../support/core.ts'
import { onBothDatabases } from '../support/databases.ts'

const DAY = 86_400
const START = 1_700_000_000

onBothDatabases('history and trash of a library', (fresh) => {
  it('page through history, newest first', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    for (let i = 1; i <= 7; i++) await createFile(library, at(`/${i}`))
    const { info } = await stage.reopen(library)
    const page = async (n: number, size: number) => {
      const { commits, more } = await new LibraryHistory(storesOf(stage.core).history, info).listHistory(
        n,
        size,
      )
      return [commits.map((commit) => commit.seq), more]
    }
    assert.deepEqual(await page(1, 3), [[8, 7, 6], true])
    assert.deepEqual(await page(2, 3), [[5, 4, 3], true])
    assert.deepEqual(await page(3, 3), [[2, 1], false])
    assert.deepEqual(await page(4, 3), [[], false])
    assert.deepEqual(await page(1, 8), [[8, 7, 6, 5, 4, 3, 2, 1], false])
  })

  it('cut the history at the retention limit, with the head and the first older commit', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    let now = START
    await using stage = await openTestCore({ ...database, now: () => now })
    const library = await stage.newLibrary(await stage.actor())
    for (let i = 1; i <= 4; i++) {
      now = START + i * DAY
      await createFile(library, at(`/${i}`))
    }
    now += 3600
    const seqs = async (days: number) => {
      await setKeepDays(stage.core, library.owned(), days, undefined)
      const { info } = await stage.reopen(library)
      return (await new LibraryHistory(storesOf(stage.core).history, info).listHistory(1, 100)).commits.map(
        (commit) => commit.seq,
      )
    }
    assert.deepEqual(await seqs(-5), [5, 4, 3, 2, 1])
    assert.deepEqual(await seqs(2), [5, 4, 3])
    assert.deepEqual(await seqs(100), [5, 4, 3, 2, 1])
    assert.deepEqual(await seqs(0), [5])
  })

  it('list deletions, latest first, without entries that exist again', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await makeFolders(library, at('/d/e'))
    for (const name of ['/a', '/b', '/d/c', '/d/e/f']) await createFile(library, at(name))
    await removeOne(stage.core, library, at('/a'))
    await remove(stage.core, library, at('/d'), ['c', 'e'])
    await removeOne(stage.core, library, at('/b'))
    await createFile(library, at('/a'))
    await rename(stage.core, library, at('/a'), 'moved away is not deleted')
    assert.deepEqual(await trashPaths(stage, library), ['/b', '/d/c', '/d/e', '/a'])
    assert.deepEqual(await trashPaths(stage, library, '/d'), ['/d/c', '/d/e'])
    await createFile(library, at('/b'))
    assert.deepEqual(await trashPaths(stage, library), ['/d/c', '/d/e', '/a'])
    await removeOne(stage.core, library, at('/b'))
    assert.deepEqual(await trashPaths(stage, library), ['/b', '/d/c', '/d/e', '/a'])
  })

  it('name the commit that still had each deleted item', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await createFile(library, at('/a'))
    const before = (await stage.reopen(library)).info.head
    const { commit } = await removeOne(stage.core, library, at('/a'))
    const { items } = await (await stage.reopen(library)).history.listTrashPage({})
    assert.deepEqual(
      items.map((item) => [item.path, item.commitBefore, item.deletedAt, item.isDir]),
      [['/a', before, commit?.ctime, false]],
    )
  })

  it('page through a large trash without gaps or duplicates', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    const names = Array.from({ length: 250 }, (_, i) => `n${String(i).padStart(3, '0')}`)
    await makeFolders(library, at('/all'))
    await Promise.all(names.map((name) => createFile(library, at(`/all/${name}`))))
    await remove(stage.core, library, at('/all'), names.slice(0, 130))
    for (const name of names.slice(130)) await removeOne(stage.core, library, at(`/all/${name}`))
    const seen: string[] = []
    const pages: number[] = []
    const { info } = await stage.reopen(library)
    let cursor: Awaited<ReturnType<typeof listTrashPage>>['next']
    do {
      const page = await new LibraryHistory(storesOf(stage.core).history, info).listTrashPage({ cursor })
      seen.push(...page.items.map((item) => item.path))
      pages.push(page.items.length)
      cursor = page.next
    } while (cursor !== undefined)
    assert.deepEqual(pages, [100, 100, 50])
    assert.deepEqual(
      seen.sort(),
      names.map((name) => `/all/${name}`),
    )
  })

  it('are emptied at once, and show later deletions, even in the same second', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore({ ...database, now: () => START })
    const library = await stage.newLibrary(await stage.actor())
    for (const name of ['/a', '/b']) await createFile(library, at(name))
    await removeOne(stage.core, library, at('/a'))
    await emptyTrash(stage.core, await stage.reopen(library), 0, undefined)
    assert.deepEqual(await trashPaths(stage, library), [])
    const { info } = await stage.reopen(library)
    assert.deepEqual(
      (await new LibraryHistory(storesOf(stage.core).history, info).listHistory(1, 10)).commits.map(
        (commit) => commit.seq,
      ),
      [4],
    )
    await removeOne(stage.core, library, at('/b'))
    assert.deepEqual(await trashPaths(stage, library), ['/b'])
  })

  it('lose the rows of deletions that are not listed any more', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    let now = START
    await using stage = await openTestCore({ ...database, now: () => now })
    const library = await stage.newLibrary(await stage.actor())
    for (const name of ['/old', '/new']) await createFile(library, at(name))
    await removeOne(stage.core, library, at('/old'))
    now += 10 * DAY
    await removeOne(stage.core, library, at('/new'))
    const listed = () => trashPaths(stage, library)
    assert.deepEqual(await listed(), ['/new', '/old'])
    const rows = async () => (await stage.db.all('select path from trash_item')).length
    const prune = () => deleteUnlistedTrash({ ...stage.core, db: stage.db }, new AbortController().signal)
    assert.deepEqual([await prune(), await rows()], [0, 2])
    await setKeepDays(stage.core, library.owned(), 3, undefined)
    assert.deepEqual([await prune(), await rows(), await listed()], [1, 1, ['/new']])
    await setKeepDays(stage.core, library.owned(), 0, undefined)
    assert.deepEqual([await prune(), await rows()], [1, 0])
  })

  it('are emptied only of entries older than the given days', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    let now = START
    await using stage = await openTestCore({ ...database, now: () => now })
    const library = await stage.newLibrary(await stage.actor())
    for (const name of ['/a', '/b']) await createFile(library, at(name))
    await removeOne(stage.core, library, at('/a'))
    now += 5 * DAY
    await removeOne(stage.core, library, at('/b'))
    await emptyTrash(stage.core, await stage.reopen(library), 3, undefined)
    assert.deepEqual(await trashPaths(stage, library), ['/b'])
  })

  it('name the creator of a path, also if it came with a folder', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    let now = START
    await using stage = await openTestCore({ ...database, now: () => now })
    const owner = await stage.actor('first@example.org')
    const library = await stage.newLibrary(owner)
    await makeFolders(library, at('/d'))
    now = START + 10
    await createFile(library, at('/d/a'))
    now = START + 20
    await rename(stage.core, library, at('/d'), 'e')
    const { info } = await stage.reopen(library)
    await storesOf(stage.core).pathIndex.catchUp(info)
    const first = (path: string) => findFirstSeen(stage.db, info.key, at(path))
    assert.deepEqual(await first('/d/a'), {
      author: 'first@example.org',
      viaLink: false,
      addedAt: START + 10,
    })
    assert.deepEqual(await first('/e/a'), {
      author: 'first@example.org',
      viaLink: false,
      addedAt: START + 20,
    })
    assert.equal(await first('/nothing'), undefined)
  })

  it('name the first of several creators of a path, also if the commits are processed together', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const first = await stage.newLibrary(await stage.actor('zoe@example.org'))
    const second = await stage.reopen({ info: first.info, actor: await stage.actor('ann@example.org') })
    await createFile(first, at('/a'))
    await removeOne(stage.core, first, at('/a'))
    await createFile(second, at('/a'))
    const { info } = await stage.reopen(first)
    await storesOf(stage.core).pathIndex.catchUp(info)
    assert.equal((await findFirstSeen(stage.db, info.key, at('/a')))?.author, 'zoe@example.org')
  })

  it('are derived: once dropped, they are rebuilt from the commits', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    for (let i = 0; i < 70; i++) await createFile(library, at(`/${i}`))
    for (let i = 0; i < 70; i += 2) await removeOne(stage.core, library, at(`/${i}`))
    const before = await trashPaths(stage, library)
    assert.equal(before.length, 35)
    await stage.db.write(async (tx) => {
      for (const table of ['follower', 'trash_item', 'first_seen']) await tx.run(`delete from ${table}`)
    })
    await using again = await openTestCore({
      setting: database.setting ?? { kind: 'sqlite', file: stage.file },
    })
    const { info } = await again.reopen(library)
    const { items } = await new LibraryHistory(storesOf(again.core).history, info).listTrashPage({})
    assert.deepEqual(
      items.map((item) => item.path as string),
      before,
    )
  })
})

async function trashPaths(
  stage: TestCore,
  library: Parameters<TestCore['reopen']>[0],
  folder: string = ROOT,
): Promise<string[]> {
  const { info } = await stage.reopen(library)
  const { items } = await new LibraryHistory(storesOf(stage.core).history, info).listTrashPage({
    folder: at(folder),
  })
  return items.map((item) => item.path)
}
