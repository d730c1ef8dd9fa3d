import assert from 'node:assert/strict'
import { it } from 'node:test'
import { at } from '../../../test/support/core.ts'
import { onBothDatabases } from '../../../test/support/databases.ts'
import { openSearch, readable } from '../../../test/support/search.ts'
import { ROOT } from '../../base/paths/paths.ts'
import { removeOne, rename } from '../../libraries/edits/entries.ts'
import { move } from '../../libraries/edits/move-copy.ts'
import type { EditableLibrary } from '../../libraries/library/library.ts'

const noLimit = async () => undefined

// The index of a test stage processes commits only when it is told to settle: later changes are not indexed yet.

onBothDatabases('a stale search hit', (fresh) => {
  it('discloses neither an old name nor an old text', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, settle, find, paths, put } = opened
    const { core } = stage
    const library = await stage.newLibrary(await stage.actor())
    const now = () => stage.reopen(library)
    for (const name of ['renamed', 'deleted', 'replaced', 'moved', 'kept']) {
      await put(library, `/folder/${name} quarterly.txt`, `the password of ${name} is swordfish`)
    }
    await settle(library)
    assert.equal((await find('swordfish', [library])).total, 5)
    await rename(core, await now(), at('/folder/renamed quarterly.txt'), 'public.txt')
    await removeOne(core, await now(), at('/folder/deleted quarterly.txt'))
    await put(library, '/folder/replaced quarterly.txt', 'nothing here')
    await move(
      core,
      await now(),
      { parent: at('/folder'), names: ['moved quarterly.txt'] },
      await now(),
      ROOT,
      noLimit,
    )
    for (const text of ['swordfish', 'quarterly']) {
      const { total, found } = await find(text, [library])
      assert.deepEqual([total, found.map(({ path }) => path)], [1, ['/folder/kept quarterly.txt']], text)
      assert.doesNotMatch(JSON.stringify(found), /renamed|deleted|replaced|moved/)
    }
    assert.deepEqual(await paths('quarterly', [library], { where: 'part', order: 'listing' }), [
      '/folder/kept quarterly.txt',
    ])
    await settle(library)
    assert.equal((await find('swordfish', [library])).total, 3)
    assert.equal((await find('quarterly', [library])).total, 3)
  })

  it('discloses nothing that was moved out of a shared folder, or of an earlier folder at its path', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, settle, find, put } = opened
    const { core } = stage
    const library = await stage.newLibrary(await stage.actor())
    const now = () => stage.reopen(library)
    await put(library, '/team/plan.txt', 'swordfish')
    await put(library, '/team/out.txt', 'swordfish')
    await put(library, '/private/secret.txt', 'swordfish')
    await settle(library)
    const seen = async (base: string) => {
      const { total, found } = await find('swordfish', [], { within: [shared(library, base)] })
      return [total, ...found.map(({ path }) => path).sort()]
    }
    assert.deepEqual(await seen('/team'), [2, '/out.txt', '/plan.txt'])
    await move(
      core,
      await now(),
      { parent: at('/team'), names: ['out.txt'] },
      await now(),
      at('/private'),
      noLimit,
    )
    assert.deepEqual(await seen('/team'), [1, '/plan.txt'])
    // The shared folder is now at a path where the index still has another folder.
    await rename(core, await now(), at('/private'), 'hidden')
    await rename(core, await now(), at('/team'), 'private')
    assert.deepEqual(await seen('/private'), [0])
    await settle(library)
    assert.deepEqual(await seen('/private'), [1, '/plan.txt'])
  })

  it('announces the next page although stale hits were dropped', async (t) => {
    await using opened = await openSearch(t, fresh)
    if (opened === undefined) return
    const { stage, settle, find, put } = opened
    const library = await stage.newLibrary(await stage.actor())
    for (let n = 0; n < 5; n++) await put(library, `/word ${n}.txt`, 'x', 1000 + n)
    await settle(library)
    await removeOne(stage.core, await stage.reopen(library), at('/word 4.txt'))
    const first = await find('word', [library], { offset: 0, limit: 2 })
    assert.deepEqual([first.total > 2, first.found.map(({ name }) => name)], [true, ['word 3.txt']])
    const last = await find('word', [library], { offset: 4, limit: 2 })
    assert.deepEqual(
      last.found.map(({ name }) => name),
      ['word 0.txt'],
    )
  })
})

function shared(library: EditableLibrary, base: string) {
  return readable(library, { base: at(base), via: 'shared', permission: 'r' })
}
