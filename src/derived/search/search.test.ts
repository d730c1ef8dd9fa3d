import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { it } from 'node:test'
import { at } from '../../../test/support/core.ts'
import { onBothDatabases } from '../../../test/support/databases.ts'
import { openSearch, readable } from '../../../test/support/search.ts'
import { ROOT } from '../../base/paths/paths.ts'
import { makeFolder, removeOne, rename } from '../../libraries/edits/entries.ts'
import { copy, move } from '../../libraries/edits/move-copy.ts'
import { createLibrary, deleteLibrary, getLibrary } from '../../libraries/library/libraries.ts'
import { Library } from '../../libraries/library/library.ts'
import { libraryTrash } from '../../libraries/library/library-trash.ts'

const noLimit = async () => undefined

onBothDatabases('search', (fresh) => {
  it('finds names by any substring, ignoring case and accents', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, paths, put, settle } = opened
    const library = await stage.newLibrary(await stage.actor())
    for (const name of [
      'Résumé 2025 (final).bin',
      'Straße.bin',
      '报告草稿.bin',
      'ｆｕｌｌ.bin',
      "it's & <b>.bin",
    ]) {
      await put(library, `/Ordner/${name}`, 'x')
    }
    await settle(library)
    const expected: [string, string[]][] = [
      ['resume', ['/Ordner/Résumé 2025 (final).bin']],
      ['RÉSUMÉ', ['/Ordner/Résumé 2025 (final).bin']],
      ['025 (fin', ['/Ordner/Résumé 2025 (final).bin']],
      ['final 2025', ['/Ordner/Résumé 2025 (final).bin']],
      ['strasse', ['/Ordner/Straße.bin']],
      ['告', ['/Ordner/报告草稿.bin']],
      ['草稿', ['/Ordner/报告草稿.bin']],
      ['full', ['/Ordner/ｆｕｌｌ.bin']],
      ["'", ["/Ordner/it's & <b>.bin"]],
      ['&', ["/Ordner/it's & <b>.bin"]],
      ['<b>', ["/Ordner/it's & <b>.bin"]],
      ['ordner', ['/Ordner']],
      ['nothing of the kind', []],
      ['bin -full -strasse -草 -final', ["/Ordner/it's & <b>.bin"]],
    ]
    for (const [text, found] of expected) assert.deepEqual(await paths(text, [library]), found, text)
  })

  it('does not find a name that has all grams of a part, but not together', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, paths, put, settle } = opened
    const library = await stage.newLibrary(await stage.actor())
    for (const name of ['plan.bin lan.ex.bin', 'plan.ex']) await put(library, `/${name}`, 'x')
    await settle(library)
    assert.deepEqual(await paths('plan.ex', [library]), ['/plan.ex'])
    assert.deepEqual(await paths('"plan.ex"', [library]), ['/plan.ex'])
    assert.deepEqual(await paths('lan.ex -plan.ex', [library]), ['/plan.bin lan.ex.bin'])
  })

  it('finds texts by words, a prefix of the last word and phrases, across name and text', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, paths, put, settle, find } = opened
    const library = await stage.newLibrary(await stage.actor())
    await put(library, '/one.txt', 'The quick brown fox jumps over the lazy dog', 1000)
    await put(library, '/two.txt', 'A brown dog, quick to anger; 我们的年度预算报告', 2000)
    await put(library, '/budget-2025.md', 'Forecast for Zürich')
    await settle(library)
    const expected: [string, string[]][] = [
      ['quick', ['/two.txt', '/one.txt']],
      ['quick fox', ['/one.txt']],
      ['"brown dog"', ['/two.txt']],
      ['"dog brown"', []],
      ['jum', ['/one.txt']],
      ['jum ', []],
      ['jum over', []],
      ['brown -fox', ['/two.txt']],
      ['one lazy', ['/one.txt']],
      ['025 zurich', ['/budget-2025.md']],
      ['预算', ['/two.txt']],
      ['年度预算', ['/two.txt']],
      ['预', ['/two.txt']],
      ['预算 fox', []],
      ['"brown-dog"', ['/two.txt']],
    ]
    for (const [text, found] of expected) assert.deepEqual(await paths(text, [library]), found, text)
    const { found } = await find('lazy', [library])
    assert.equal(found[0]?.highlight, 'The quick brown fox jumps over the <b>lazy</b> dog')
    const chinese = await find('年度预算', [library])
    assert.match(chinese.found[0]?.highlight ?? '', /我们的<b>年度预算<\/b>报告/)
    assert.deepEqual(await paths('quick', [library], { where: 'names' }), [])
  })

  it('ranks exact names first, then names, then texts, each newest first', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, paths, put, settle } = opened
    const library = await stage.newLibrary(await stage.actor())
    await put(library, '/text.txt', 'this is a plan', 5000)
    await put(library, '/old plan.txt', 'x', 1000)
    await put(library, '/new plan.txt', 'x', 2000)
    await put(library, '/plan.txt', 'x', 10)
    await put(library, '/planned.txt', 'x', 3000)
    await put(library, '/a/plan', 'x', 20)
    await settle(library)
    assert.deepEqual(await paths('Plan', [library]), [
      '/a/plan',
      '/plan.txt',
      '/planned.txt',
      '/new plan.txt',
      '/old plan.txt',
      '/text.txt',
    ])
    assert.deepEqual(await paths('Plan', [library], { offset: 2, limit: 2 }), [
      '/planned.txt',
      '/new plan.txt',
    ])
    assert.deepEqual(await paths('Plan', [library], { offset: 100, limit: 2 }), [])
  })

  it('follows renames, moves, copies, edits, deletions and restores', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, paths, put, settle, search, errors } = opened
    const { core } = stage
    const library = await stage.newLibrary(await stage.actor())
    await put(library, '/inbox/letter.txt', 'dear reader')
    await makeFolder(await stage.reopen(library), at('/archive'))
    await settle(library)
    const now = () => stage.reopen(library)
    await rename(core, await now(), at('/inbox'), 'post')
    await settle(library)
    assert.deepEqual(await paths('letter', [library]), ['/post/letter.txt'])
    assert.deepEqual(await paths('inbox', [library]), [])
    await rename(core, await now(), at('/post/letter.txt'), 'epistle.txt')
    await settle(library)
    assert.deepEqual(await paths('letter', [library]), [])
    assert.deepEqual(await paths('epistle dear', [library]), ['/post/epistle.txt'])
    await move(core, await now(), { parent: ROOT, names: ['post'] }, await now(), at('/archive'), noLimit)
    await settle(library)
    assert.deepEqual(await paths('reader', [library]), ['/archive/post/epistle.txt'])
    await copy(core, await now(), { parent: at('/archive'), names: ['post'] }, await now(), ROOT, noLimit)
    await put(library, '/post/epistle.txt', 'something else')
    await settle(library)
    assert.deepEqual(await paths('reader', [library]), ['/archive/post/epistle.txt'])
    assert.deepEqual(await paths('something', [library]), ['/post/epistle.txt'])
    await removeOne(core, await now(), at('/archive'))
    await settle(library)
    assert.deepEqual(await paths('reader', [library]), [])
    assert.deepEqual(await paths('archive', [library]), [])
    await rename(core, await now(), at('/post/epistle.txt'), 'epistle.bin')
    await settle(library)
    assert.deepEqual(await paths('something', [library]), [])
    assert.deepEqual(errors, [])
    assert.deepEqual(await search.reindexing.lag(), {
      commits: 0,
      seconds: 0,
      waitingTexts: 0,
      failedTexts: 0,
    })
  })

  it('shows a shared folder as the view of its reader, and nothing outside it', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, put, settle, search } = opened
    const library = await stage.newLibrary(await stage.actor())
    const other = await stage.newLibrary(await stage.actor())
    await put(library, '/shared/deep/plan.txt', 'secret words')
    await put(library, '/private/plan.txt', 'secret words')
    await put(other, '/plan.txt', 'secret words')
    await settle(library, other)
    const ask = async (
      text: string,
      within: Parameters<typeof search.find>[0]['within'],
      folder?: string,
    ) => {
      const { total, found } = await search.find({
        text,
        within,
        folder: folder === undefined ? undefined : at(folder),
        filters: {},
        where: 'everywhere',
        order: 'rank',
        offset: 0,
        limit: 10,
      })
      return [total, found.map((one) => `${one.in.name}:${one.path}`)]
    }
    const view = readable(library, { base: at('/shared'), name: 'View', via: 'shared' })
    for (const text of ['plan', 'secret'])
      assert.deepEqual(await ask(text, [view]), [1, ['View:/deep/plan.txt']])
    assert.deepEqual(await ask('shared', [view]), [0, []])
    assert.deepEqual(await ask('deep', [view]), [1, ['View:/deep']])
    assert.deepEqual(await ask('plan', [view], '/deep'), [1, ['View:/deep/plan.txt']])
    assert.deepEqual(await ask('deep', [view], '/deep'), [0, []])
    assert.deepEqual(await ask('secret', [view, readable(other)]), [
      2,
      ['Notes:/plan.txt', 'View:/deep/plan.txt'],
    ])
    const [total] = await ask('plan', [view, readable(library)])
    assert.equal(total, 2)
    assert.deepEqual(await ask('plan', []), [0, []])
  })

  it('indexes the names of an encrypted library, but not its content', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, paths, put, settle, search } = opened
    const actor = await stage.actor()
    const encryption = {
      version: 2,
      magic: '00',
      randomKey: '00',
      salt: '',
      pwdHash: '',
      pwdHashAlgo: '',
      pwdHashParams: '',
    }
    const { id } = await createLibrary(
      stage.core,
      actor,
      { name: 'Secret', description: '', encryption },
      undefined,
    )
    const library = new Library(stage.core, await getLibrary(stage.core, id), actor, 'rw').editable(ROOT)
    await put(library, '/diary.txt', 'words of mine')
    await settle(library)
    assert.deepEqual(await paths('diary', [library]), ['/diary.txt'])
    assert.deepEqual(await paths('words', [library]), [])
    assert.equal((await search.reindexing.lag()).waitingTexts, 0)
  })

  it('reports why extraction failed, and retries only temporary failures', async (t) => {
    let now = 1_700_000_000
    let calls = 0
    const extractor = {
      async extract({ name }: { name: string }) {
        calls++
        if (name === 'odd.txt') return { reason: 'is odd' }
        throw new Error('the disk is tired')
      },
      async close() {},
    }
    await using opened = await openSearch(t, fresh, { extractor, now: () => now })
    if (opened === undefined) return
    const { stage, put, settle, search } = opened
    const library = await stage.newLibrary(await stage.actor())
    await put(library, '/odd.txt', 'a')
    await put(library, '/tired.txt', 'b')
    for (let round = 0; round < 6; round++) {
      await settle(library)
      now += 1000
    }
    assert.equal(calls, 1 + 3)
    const { unread, total } = await search.listUnread(0, 10)
    assert.equal(total, 2)
    const told = unread.map(({ path, reason, attempts }) => [path, reason, attempts] as const)
    assert.deepEqual(
      told.toSorted(([a], [b]) => (a < b ? -1 : 1)),
      [
        ['/odd.txt', 'The file is odd.', 1],
        ['/tired.txt', 'the disk is tired', 3],
      ],
    )
    assert.equal((await search.reindexing.lag()).failedTexts, 2)
  })

  it('rebuilds the index without purged libraries', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, paths, put, settle, search } = opened
    const actor = await stage.actor()
    const [library, gone] = [await stage.newLibrary(actor), await stage.newLibrary(actor)]
    await put(library, '/a/kept.txt', 'text of it')
    await put(gone, '/gone.txt', 'text of it')
    await settle(library, gone)
    await deleteLibrary(stage.core, (await stage.reopen(gone)).owned(), undefined)
    await libraryTrash.purgeAll(stage.core, actor.key, undefined)
    await search.reindexing.look()
    assert.deepEqual(await paths('gone', [library, gone]), [])
    let done = 0
    await search.reindexing.rebuild(() => done++)
    await search.texts.settled()
    assert.equal(done, 1)
    assert.deepEqual(await paths('text', [library]), ['/a/kept.txt'])
    await search.reindexing.look()
    assert.deepEqual(await paths('gone', [library, gone]), [])
  })

  it('leaves no words of deleted files and purged libraries in the index', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, db, paths, put, settle, search } = opened
    if (db.dialect !== 'sqlite') return
    const actor = await stage.actor()
    const [library, gone] = [await stage.newLibrary(actor), await stage.newLibrary(actor)]
    await put(library, '/kept.txt', 'alpha omega')
    await put(library, '/deleted.txt', 'alpha zebrafinch')
    await put(gone, '/purged.txt', 'alpha quokkasmile')
    await settle(library, gone)
    const file = path.join(path.dirname(stage.file), 'search.db')
    const wordsLeft = async () => {
      const bytes = Buffer.concat([await readFile(file), await readFile(`${file}-wal`)])
      return ['omega', 'zebrafinch', 'quokkasmile'].filter((word) => bytes.includes(word))
    }
    await db.releaseFreePages(AbortSignal.timeout(60_000))
    assert.deepEqual(await wordsLeft(), ['omega', 'zebrafinch', 'quokkasmile'])
    await removeOne(stage.core, await stage.reopen(library), at('/deleted.txt'))
    await deleteLibrary(stage.core, (await stage.reopen(gone)).owned(), undefined)
    await libraryTrash.purgeAll(stage.core, actor.key, undefined)
    await settle(library)
    await search.reindexing.look()
    await search.merging.eraseDeleted(AbortSignal.timeout(60_000))
    await db.releaseFreePages(AbortSignal.timeout(60_000))
    assert.deepEqual(await wordsLeft(), ['omega'])
    assert.deepEqual(await paths('alpha', [library]), ['/kept.txt'])
  })
})
