import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { IdSet } from '../../src/maintenance/gc/id-set.ts'
import { type MarkOptions, mark } from '../../src/maintenance/gc/mark.ts'
import { at } from '../support/core.ts'
import { onBothDatabases } from '../support/databases.ts'
import { rounds } from '../support/tier.ts'
import { openGcStage } from './stage.ts'

const neverYields = { isDue: false, rest: async () => {} }
const MOST_IN_MEMORY = 100

it('a set of ids answers the same from memory and from its temporary file', () => {
  using set = new IdSet(MOST_IN_MEMORY)
  const ids = Array.from({ length: rounds(2000, 50_000) }, () => randomBytes(20))
  const others = Array.from({ length: 1000 }, () => randomBytes(20))
  for (const id of ids) set.add(id)
  for (const id of ids) set.add(id)
  assert.ok(set.hasSpilled)
  assert.ok(ids.every((id) => set.has(id)))
  assert.ok(!others.some((id) => set.has(id)))
})

onBothDatabases('a mark in little memory', (fresh) => {
  it('finds the same as one in much memory', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { core, db } = on.stage
    const library = await on.stage.newLibrary(await on.stage.actor())
    const count = rounds(600, 6000)
    await library.commit(async (tree) => {
      await tree.makeDirs(at('/kept'))
      await tree.makeDirs(at('/deleted'))
      const contents = []
      for (let n = 0; n < count; n++) {
        const content = await core.incoming.receive(one(Buffer.from(`file ${n}`)))
        contents.push(content)
        const { id, size } = content
        const entry = fileDirent({ id, name: `${n}`, size, mtime: 1, modifier: '' })
        await tree.put(at(n % 2 === 0 ? '/kept' : '/deleted'), entry)
      }
      return { description: 'Added', result: 0, contents }
    })
    await library.commit(async (tree) => {
      await tree.take(at('/deleted'))
      return { description: 'Deleted', result: 0 }
    })
    const { info } = await on.stage.reopen(library)
    const options = { libraryKey: info.key, keptSeq: info.headSeq, kept: [], most: 2 * count }
    const markIn = async (mostInMemory: number, more: Partial<MarkOptions> = {}) => {
      const marked = await mark(db, { ...options, mostInMemory, ...more }, neverYields)
      assert.ok(marked !== undefined)
      return marked
    }
    const wanted = await markIn(Number.MAX_SAFE_INTEGER)
    // The files, their folder, and the root that had it.
    assert.equal(wanted.unreachable.length / 20, count / 2 + 2)
    assert.equal(wanted.unreachableReferences.length / 20, count / 2)
    assert.deepEqual(await markIn(MOST_IN_MEMORY), wanted)
    assert.equal((await markIn(MOST_IN_MEMORY, { most: 10 })).unreachable.length / 20, 10)
  })
})

async function* one(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes
}
