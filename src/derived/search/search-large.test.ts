import assert from 'node:assert/strict'
import { it } from 'node:test'
import { at } from '../../../test/support/core.ts'
import { onBothDatabases } from '../../../test/support/databases.ts'
import { openSearch } from '../../../test/support/search.ts'
import { ROOT } from '../../base/paths/paths.ts'
import { removeOne, rename } from '../../libraries/edits/entries.ts'
import { addFiles } from '../../libraries/edits/upload.ts'
import { rootKeyOf } from './keys.ts'
import type { Filters, Slice } from './match-request.ts'
import { findMatches } from './match-store.ts'
import { findCuts } from './position-store.ts'
import { parseQuery } from './query.ts'

onBothDatabases('the search index', (fresh) => {
  it('finds the same after merging the segments of the index', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, search, settle, find, paths, put } = opened
    const library = await stage.newLibrary(await stage.actor())
    const content = await stage.core.incoming.receive(oneChunk('x'))
    const files = Array.from({ length: 5000 }, (_, n) => ({ name: `item-${n}.bin`, content }))
    await addFiles(stage.core, await stage.reopen(library), ROOT, files)
    for (let n = 0; n < 6; n++) {
      await put(library, `/note ${n}.txt`, `words of note ${n}`)
      await settle(library)
    }
    await removeOne(stage.core, await stage.reopen(library), at('/note 3.txt'))
    await settle(library)
    const look = async () => [
      (await find('item', [library], { offset: 4999, limit: 10 })).total,
      await paths('item-4999', [library]),
      (await paths('words', [library])).toSorted(),
    ]
    const before = await look()
    assert.deepEqual([before[0], before[2]], [5000, [0, 1, 2, 4, 5].map((n) => `/note ${n}.txt`)])
    await search.merging.look()
    assert.deepEqual(await look(), before)
    await put(library, '/note 6.txt', 'words of note 6')
    await settle(library)
    await search.merging.look()
    assert.equal((await find('words', [library])).total, 6)
  })

  it('resumes after an interruption in a large step', async (t) => {
    // If it finished before it could be stopped, there was not enough to do.
    for (let count = 9000; ; count *= 2) {
      await using opened = await openSearch(t, fresh)
      if (opened === undefined) return
      const { stage, search, find, restart } = opened
      const library = await stage.newLibrary(await stage.actor())
      const content = await stage.core.incoming.receive(oneChunk('x'))
      const files = Array.from({ length: count }, (_, n) => ({ name: `item-${n}.bin`, content }))
      await addFiles(stage.core, await stage.reopen(library), at('/'), files)
      const { info } = await stage.reopen(library)
      const ending = search.index.catchUp(info).then(
        () => 'done',
        (error: unknown) => String(error),
      )
      for (let total = 0; total === 0; ) total = (await find('item', [library])).total
      await search.index.stop()
      const end = await ending
      if (end === 'done' && count < 100_000) continue
      assert.match(end, /stopping/)
      await using again = restart()
      await again.index.catchUp(info)
      const last = await find('item', [library], { offset: count - 1, limit: 2 })
      assert.deepEqual([last.total, last.isMinimum], [count, false])
      return
    }
  })

  it('indexes and removes a large folder in several transactions', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, settle, find, put } = opened
    const library = await stage.newLibrary(await stage.actor())
    const { core } = stage
    const content = await core.incoming.receive(oneChunk('x'))
    await put(library, '/big/sub/start.txt', 'x i')
    const files = Array.from({ length: 2500 }, (_, n) => ({ name: `item-${n}.bin`, content }))
    await addFiles(core, await stage.reopen(library), at('/big'), files)
    await settle(library)
    const seen = new Set<string>()
    const totals: (number | string)[] = []
    for (let offset = 0; ; offset += 1000) {
      const { total, isMinimum, found } = await find('item', [library], { offset, limit: 1000 })
      totals.push(isMinimum ? `${total} or more` : total)
      for (const { path } of found) seen.add(path)
      if (found.length === 0) break
    }
    assert.equal(seen.size, 2500)
    assert.deepEqual(totals, ['1001 or more', '2001 or more', 2500, 2500])
    // The files, the folder, and the text that contains it as a word.
    const { total, isMinimum } = await find('i', [library])
    assert.deepEqual([total, isMinimum], [1001, true])
    const end = await find('i', [library], { offset: 2501, limit: 10 })
    assert.deepEqual([end.total, end.isMinimum, end.found.length], [2502, false, 1])
    const { found } = await find('item-7.bin', [library])
    assert.equal(found[0]?.path, '/big/item-7.bin')
    await rename(core, await stage.reopen(library), at('/big'), 'large')
    await settle(library)
    assert.equal((await find('item-2499', [library])).found[0]?.path, '/large/item-2499.bin')
    await removeOne(core, await stage.reopen(library), at('/large'))
    await settle(library)
    for (const text of ['item', 'start', 'i']) assert.equal((await find(text, [library])).total, 0)
  })

  it('finds the same with and without slices of the index', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, settle, put, db } = opened
    const actor = await stage.actor()
    const libraries = [await stage.newLibrary(actor), await stage.newLibrary(actor)]
    const content = await stage.core.incoming.receive(oneChunk('x'))
    for (const library of libraries) {
      const files = Array.from({ length: 700 }, (_, n) => ({ name: `item-${n}.bin`, content }))
      await addFiles(stage.core, await stage.reopen(library), at('/'), files, { into: at('/many items') })
      for (let n = 0; n < 5; n++) await put(library, `/note ${n}.txt`, 'an item of many items', 1000 + n)
    }
    await settle(...libraries)
    const keys = libraries.map(({ info }) => info.key)
    const [first = 0, second = 0] = keys
    const cuts = [rootKeyOf(second), rootKeyOf(first) + 350, rootKeyOf(second) + 702, rootKeyOf(second + 1)]
    const ask = (text: string, filters: Filters, slices: Slice[]) =>
      findMatches(db, {
        query: parseQuery(text),
        scope: { libraries: keys, partly: [], folders: [], files: [] },
        filters,
        where: 'everywhere',
        order: 'rank',
        offset: 0,
        limit: 20,
        slices: async () => slices,
      })
    for (const text of ['item', 'many items', 'item -note', '"of many"', 'i', 'note 3']) {
      for (const filters of [
        {},
        { time: { to: 1003 } },
        { kind: 'file' },
        { extensions: ['txt'] },
      ] as const) {
        const expected = await ask(text, filters, [{}])
        assert.ok(expected.total > 0 || Object.keys(filters).length > 0, text)
        for (const cut of db.dialect === 'sqlite' ? cuts : []) {
          const found = await ask(text, filters, [{ from: cut }, { before: cut }])
          assert.deepEqual(found, expected, `${text} ${JSON.stringify(filters)} cut at ${cut}`)
        }
      }
    }
  })

  it('cuts the index into slices of about equal size', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, settle, db } = opened
    const actor = await stage.actor()
    const content = await stage.core.incoming.receive(oneChunk('x'))
    const keys: number[] = []
    for (const count of [10, 300, 20]) {
      const library = await stage.newLibrary(actor)
      const files = Array.from({ length: count }, (_, n) => ({ name: `item-${n}.bin`, content }))
      await addFiles(stage.core, await stage.reopen(library), at('/'), files)
      await settle(library)
      keys.push(library.info.key)
    }
    const [first = 0, , last = 0] = keys
    const { cuts, entries } = await findCuts(db, { first, last }, 6)
    assert.ok(entries >= 330 && entries <= 333, String(entries))
    assert.equal(cuts.length, 5)
    const all = (await db.all<{ key: number }>('select key from search_entry')).map(({ key }) => key)
    const bounds = [0, ...cuts, Number.MAX_SAFE_INTEGER]
    for (const [part, from] of bounds.slice(0, -1).entries()) {
      const size = all.filter((key) => key >= from && key < (bounds[part + 1] ?? 0)).length
      assert.ok(Math.abs(size - 55) <= 5, `part ${part} has ${size}`)
    }
    assert.deepEqual((await findCuts(db, { first: last + 1, last: last + 1 }, 6)).cuts, [])
  })
})

async function* oneChunk(text: string) {
  yield Buffer.from(text)
}
