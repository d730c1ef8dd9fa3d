import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { idToBytes } from '../../src/base/objects/ids.ts'
import { blockRows, condemnedBlocks } from '../../src/libraries/content/index.ts'
import { setKeepDays } from '../../src/libraries/library/administration.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { condemnedObjects, objectRows, prepareFile } from '../../src/libraries/tree/index.ts'
import { at } from '../support/core.ts'
import { onBothDatabases } from '../support/databases.ts'
import { countAll, type GcStage, GRACE, openGcStage, remove, save } from './stage.ts'

const FUTURE = 4_000_000_000

async function stored(on: GcStage) {
  const library = await on.stage.newLibrary(await on.stage.actor())
  await save(on, library, 'a.txt', Buffer.from('content'))
  const { info, tree } = await on.stage.reopen(library)
  const entry = await tree.getFile(at('/a.txt'))
  const file = await storesOf(on.stage.core).objects.getFile(info.key, entry.id as never)
  const [block = assert.fail('no block')] = file.blockIds
  return { library, key: info.key, id: entry.id, file, block }
}

onBothDatabases('garbage collection', (fresh) => {
  it('deletes nothing within the grace period', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { library } = await stored(on)
    await save(on, library, 'old.bin', randomBytes(200_000))
    await remove(library, at('/old.bin'))
    await setKeepDays(on.stage.core, (await on.stage.reopen(library)).owned(), 0, undefined)
    const full = await countAll(on)
    for (let run = 0; run < 9; run++) {
      await on.gc.runOnce()
      on.clock.now += GRACE / 10
    }
    const { condemned, ...kept } = await countAll(on)
    const { condemned: _, ...before } = full
    assert.deepEqual(kept, before)
    assert.ok(condemned > 0)
    for (let run = 0; run < 4; run++) {
      on.clock.now += GRACE
      await on.gc.runOnce()
    }
    assert.ok((await countAll(on)).objects < full.objects)
  })

  it('keeps what was stored again since it was condemned', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { key, id, file, block } = await stored(on)
    const { db } = on.stage
    await db.write(async (tx) => {
      await condemnedObjects.condemn(tx, key, [{ id: idToBytes(id), depth: 0 }], 1)
      await condemnedBlocks.condemnReferences(tx, key, [idToBytes(block)], 1)
      await condemnedBlocks.condemn(tx, [{ id: idToBytes(block), size: 1 }], 1)
    })
    await db.write(async (tx) => {
      await objectRows.insert(tx, key, [prepareFile(id as never, file)])
      await blockRows.insertHeld(tx, key, [{ id: block, size: file.size }])
    })
    const deleted = await db.write(async (tx) => {
      const objects = await condemnedObjects.delete(tx, key, [idToBytes(id)], FUTURE)
      const references = await condemnedBlocks.deleteReferences(tx, key, [idToBytes(block)], FUTURE)
      const { small } = await condemnedBlocks.remove(tx, [idToBytes(block)], { before: FUTURE, now: 2 })
      return { objects: objects.length, references: references.length, small: small.length }
    })
    assert.deepEqual(deleted, { objects: 0, references: 0, small: 0 })
    assert.equal((await countAll(on)).condemned, 0)
  })

  it('deletes nothing of a library with a lost commit', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { library, key } = await stored(on)
    await save(on, library, 'b.txt', Buffer.from('first'))
    await remove(library, at('/b.txt'))
    await on.stage.db.write((tx) =>
      tx.run('delete from commit_object where library_key = ? and seq = 3', key),
    )
    const before = await countAll(on)
    for (let run = 0; run < 3; run++) {
      await assert.rejects(on.gc.runOnce(), /1 commits of library \d+ are missing/)
      on.clock.now += 2 * GRACE
    }
    assert.deepEqual(await countAll(on), before)
  })

  it('deletes only what is still condemned, and no block that a library holds', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { key, id, block } = await stored(on)
    const { db } = on.stage
    const before = await countAll(on)
    await db.write(async (tx) => {
      await condemnedObjects.delete(tx, key, [idToBytes(id)], FUTURE)
      await condemnedBlocks.deleteReferences(tx, key, [idToBytes(block)], FUTURE)
      await condemnedBlocks.condemn(tx, [{ id: idToBytes(block), size: 1 }], 1)
      await condemnedBlocks.remove(tx, [idToBytes(block)], { before: FUTURE, now: 2 })
    })
    const { condemned: _, ...left } = await countAll(on)
    const { condemned: none, ...all } = before
    assert.deepEqual([left, none], [all, 0])
  })
})
