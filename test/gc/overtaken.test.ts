import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { emptyTrash } from '../../src/libraries/library/library-trash.ts'
import { GarbageCollector } from '../../src/maintenance/gc/collector.ts'
import { at } from '../support/core.ts'
import { onBothDatabases } from '../support/databases.ts'
import { type GcStage, GRACE, load, openGcStage, save } from './stage.ts'

const FOLDER = at('/outer/inner')

/** A collector of another process. `meanwhile` runs once, after it has read how far a library was collected. */
function slowCollector({ stage, leases, clock }: GcStage, meanwhile: () => Promise<void>): GarbageCollector {
  const { core, db, blocks } = stage
  let left = 1
  const processCommits = async () => {
    if (left-- > 0) await meanwhile()
  }
  const options = { graceSeconds: GRACE, now: () => clock.now, onError: () => {}, processCommits }
  return new GarbageCollector({ db, blocks, core, leases }, options)
}

async function keptSeq({ stage }: GcStage, { info }: EditableLibrary): Promise<number | undefined> {
  const sql = 'select kept_seq from collected_library where library_key = ?'
  return (await stage.db.get<{ kept_seq: number }>(sql, info.key))?.kept_seq
}

onBothDatabases('a collection that is overtaken by one of another process', (fresh) => {
  it('does not take back that history was given up', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using gcStage = await openGcStage(database)
    const { stage, gc } = gcStage
    const library = await stage.newLibrary(await stage.actor())
    const emptied = async () => {
      await emptyTrash(stage.core, await stage.reopen(library), 0, undefined)
      return (await stage.reopen(library)).info.validSinceSeq
    }
    await save(gcStage, library, 'a', Buffer.from('a'), FOLDER)
    await emptied()
    let last = 0
    const slow = slowCollector(gcStage, async () => {
      await save(gcStage, library, 'b', Buffer.from('b'), FOLDER)
      last = await emptied()
      await gc.runOnce()
    })
    assert.deepEqual((await slow.runOnce()).failures, [])
    assert.equal(await keptSeq(gcStage, library), last)
  })

  it('does not take trees that are deleted meanwhile for damage', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using gcStage = await openGcStage(database)
    const { stage, gc, clock } = gcStage
    const library = await stage.newLibrary(await stage.actor())
    const bytes = Buffer.from('b')
    await save(gcStage, library, 'a', Buffer.from('a'), FOLDER)
    await emptyTrash(stage.core, await stage.reopen(library), 0, undefined)
    // The history below is given up; its commits are deleted a grace period later.
    await gc.runOnce()
    await save(gcStage, library, 'b', bytes, FOLDER)
    await emptyTrash(stage.core, await stage.reopen(library), 0, undefined)
    // As if a collector had condemned the trees of both commits, because it knew that the second one was given up.
    const { key } = library.info
    await stage.db.write((tx) =>
      tx.run(
        `insert into condemned_object (library_key, id, depth, condemned_at)
         select library_key, id, depth, ? from fs_object where library_key = ?`,
        clock.now - 1,
        key,
      ),
    )
    const slow = slowCollector(gcStage, async () => {
      clock.now += 3 * GRACE
      const { deleted } = await gc.runOnce()
      assert.ok(deleted.objects > 0)
    })
    assert.deepEqual((await slow.runOnce()).failures, [])
    clock.now += 3 * GRACE
    assert.deepEqual((await gc.runOnce()).failures, [])
    assert.deepEqual(await load(gcStage, library, at('/outer/inner/b')), bytes)
  })
})
