import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { type FileObject, fileId } from '../../src/base/objects/file.ts'
import {
  type BlockId,
  type DirId,
  EMPTY_ID,
  type FileId,
  idToBytes,
  sha1Hex,
} from '../../src/base/objects/ids.ts'
import { joinPath, type LibraryPath } from '../../src/base/paths/paths.ts'
import { TimeSlicer } from '../../src/base/scheduling/time-slicer.ts'
import { commitRows } from '../../src/libraries/commits/commit-store.ts'
import { findHeldBlocks, insertHeldBlocks } from '../../src/libraries/content/block-rows-store.ts'
import { oldestShown } from '../../src/libraries/history/history.ts'
import { listTrash } from '../../src/libraries/history/trash-store.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { emptyTrash } from '../../src/libraries/library/library-trash.ts'
import { restoredLibraries } from '../../src/libraries/registry/restored-library-store.ts'
import { insertObjects, prepareFile } from '../../src/libraries/tree/object-store.ts'
import type { WorkingTree } from '../../src/libraries/tree/working-tree.ts'
import { count } from '../../src/libraries/usage/count.ts'
import { Usage } from '../../src/libraries/usage/usage.ts'
import { findLibraryUsage } from '../../src/libraries/usage/usage-store.ts'
import { at, openTestCore, type TestCore } from '../support/core.ts'
import { onBothDatabases } from '../support/databases.ts'
import { seededRandom, testSeed } from '../support/random.ts'

const countProcess = new URL('../../src/libraries/usage/count-process.ts', import.meta.url)
const FOLDERS = ['/', '/a', '/a/b', '/c'].map(at)
const BLOCKS = 200
const COMMITS = 120

const blockOf = (n: number) => ({ id: sha1Hex(Buffer.from(`block ${n}`)) as BlockId, size: 1000 + n })

onBothDatabases('the stored bytes of a library', (fresh) => {
  it('equal a count over every file of every commit, in one step or in many', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    const seed = testSeed()
    t.diagnostic(`seed ${seed}`)
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    const random = seededRandom(seed)
    await fill(stage, library)
    for (let n = 1; n <= COMMITS; n++) {
      await library.commit(async (tree) => {
        await change(tree, random)
        return { description: 'random', result: 0 }
      })
      if (n === COMMITS / 2) await emptyTrash(stage.core, await stage.reopen(library), 0, undefined)
      if (n % 20 !== 0) continue
      const { info } = await stage.reopen(library)
      const expected = await reckon(stage, library)
      const { key, id, root, headSeq } = info
      const oldestSeq = await oldestShown({ ...stage.core, db: stage.db }, info)
      const options = { library: { key, id, root, headSeq }, oldestSeq, keepsTrash: true }
      const why = `after ${n} commits, seed ${seed}`
      assert.deepEqual(await count(stage.db, options, new TimeSlicer()), expected, why)
      assert.deepEqual(await count(stage.db, { ...options, mostBlocks: 30 }, new TimeSlicer()), expected, why)
      const { signal } = new AbortController()
      if (n === COMMITS)
        assert.deepEqual(await stage.db.runInSideProcess(countProcess, options, signal), expected, why)
      assert.ok(expected.current > 0 && expected.unreferenced > 0)
    }
  })

  it('are counted once a library that is being restored is complete, and not before', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const { core, db } = stage
    const library = await stage.newLibrary(await stage.actor())
    await fill(stage, library)
    const { info } = await stage.reopen(library)
    const { key, name, headSeq, size, fileCount } = info
    const [head, root] = [idToBytes(info.head), idToBytes(info.root)]
    // As `insertRestoredLibrary` leaves it until all rows are there.
    await db.write((tx) =>
      tx.run(
        'update library set head_seq = 0, root = ?, deleted_at = 1 where key = ?',
        idToBytes(EMPTY_ID),
        key,
      ),
    )
    await using usage = new Usage({ ...core, db, pathIndex: storesOf(core).pathIndex })
    await usage.refresh()
    await db.write((tx) => restoredLibraries.publish(tx, key, { name, head, headSeq, root, size, fileCount }))
    await usage.refresh()
    const counted = await findLibraryUsage(db, key)
    assert.equal(counted?.head, info.head)
    assert.equal(counted.current, (await reckon(stage, library)).current)
    assert.ok(counted.current > 0)
  })
})

/** The same block in several files, and enough entries for versions stored as deltas. */
function fileOf(random: () => number): { id: FileId; object: FileObject } {
  const count = 1 + Math.floor(random() * 3)
  const blocks = Array.from({ length: count }, () => blockOf(Math.floor(random() * (BLOCKS - 1))))
  const size = blocks.reduce((sum, block) => sum + block.size, 0)
  const object = { blockIds: blocks.map(({ id }) => id), size }
  return { id: fileId(object), object }
}

// Generated again from the same numbers wherever they are needed.
const FILES = Array.from({ length: 150 }, (_, n) => fileOf(seededRandom(n)))

const blocksById = new Map(FILES.map(({ id, object }) => [id, object.blockIds]))

async function fill(stage: TestCore, library: EditableLibrary): Promise<void> {
  const { key } = library.info
  await library.commit(async (tree) => {
    for (const folder of FOLDERS) {
      if (folder !== '/') await tree.makeDirs(folder)
      for (let n = 0; n < 60; n++) await tree.put(folder, direntOf(`${n}.bin`, (n * 7) % FILES.length))
    }
    return {
      description: 'filled',
      result: 0,
      also: async (tx) => {
        const blocks = Array.from({ length: BLOCKS }, (_, n) => blockOf(n))
        await insertHeldBlocks(tx, key, blocks)
        const rows = FILES.map(({ id, object }) => prepareFile(id, object))
        await insertObjects(tx, key, rows)
      },
    }
  })
  const other = await stage.newLibrary(library.actor)
  await stage.db.write((tx) => insertHeldBlocks(tx, other.info.key, [blockOf(1), blockOf(2)]))
}

function direntOf(name: string, n: number) {
  const { id, object } = FILES[n % FILES.length] ?? fileOf(() => 0)
  return fileDirent({ id, name, mtime: 1_700_000_000 + n, size: object.size, modifier: 'a@example.org' })
}

async function change(tree: WorkingTree, random: () => number): Promise<void> {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const folder = pick(FOLDERS)
  await tree.makeDirs(folder)
  const roll = random()
  if (roll < 0.08 && folder !== '/') return void (await tree.take(folder))
  if (roll < 0.15 && folder !== '/') return copyFolder(tree, folder, `copy ${Math.floor(random() * 5)}`)
  for (let n = 0; n < 1 + random() * 4; n++) {
    const name = `${Math.floor(random() * 80)}.bin`
    const isThere = (await tree.find(joinPath(folder, name))) !== undefined
    if (isThere && random() < 0.6) await tree.take(joinPath(folder, name))
    else await tree.put(folder, direntOf(name, Math.floor(random() * FILES.length)))
  }
}

async function copyFolder(tree: WorkingTree, folder: LibraryPath, name: string): Promise<void> {
  const entry = await tree.find(folder)
  if (entry !== undefined) await tree.put(at('/'), { ...entry, name })
}

/** Every file of every tree, one by one. */
async function reckon(stage: TestCore, library: EditableLibrary) {
  const { core, db } = stage
  const { info } = await stage.reopen(library)
  const blocksIn = async (root: DirId, into: Set<BlockId>): Promise<void> => {
    const { dir } = await storesOf(core).objects.getDir(info.key, root)
    for (const entry of dir.entries) {
      if (entry.kind === 'dir') await blocksIn(entry.id, into)
      else for (const id of blocksById.get(entry.id) ?? []) into.add(id)
    }
  }
  const current = new Set<BlockId>()
  await blocksIn(info.root, current)
  await storesOf(core).pathIndex.catchUp(info)
  const oldest = await oldestShown({ ...core, db }, info)
  const trash = new Set<BlockId>()
  for (const row of await listTrash(db, info.key, { afterSeq: oldest }, { limit: 10_000 })) {
    if (row.isDir) await blocksIn(row.objectId as DirId, trash)
    else for (const id of blocksById.get(row.objectId as FileId) ?? []) trash.add(id)
  }
  const history = new Set<BlockId>()
  for (const { rootId } of await commitRows.listDown(db, info, info.headSeq, oldest))
    await blocksIn(rootId, history)
  const all = Array.from({ length: BLOCKS }, (_, n) => blockOf(n))
  const held = await findHeldBlocks(
    db,
    info.key,
    all.map(({ id }) => id),
    { orCondemned: true },
  )
  const sums = { current: 0, trash: 0, history: 0, unreferenced: 0 }
  for (const [id, size] of held) {
    if (current.has(id)) sums.current += size
    else if (trash.has(id)) sums.trash += size
    else if (history.has(id)) sums.history += size
    else sums.unreferenced += size
  }
  return { ...sums, shared: blockOf(1).size + blockOf(2).size, blocks: held.size }
}
