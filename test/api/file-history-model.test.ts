import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { type FileId, sha1Hex } from '../../src/base/objects/ids.ts'
import { baseName, joinPath, type LibraryPath, parentOf, ROOT } from '../../src/base/paths/paths.ts'
import { commitRows, type NumberedCommit } from '../../src/libraries/commits/commit-store.ts'
import { createFile, makeFolder, removeOne, rename } from '../../src/libraries/edits/entries.ts'
import { move } from '../../src/libraries/edits/move-copy.ts'
import { revertLibrary } from '../../src/libraries/edits/revert.ts'
import type { listFileHistoryFrom } from '../../src/libraries/history/file-history-pages.ts'
import { LibraryHistory } from '../../src/libraries/history/library-history.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { diffTrees } from '../../src/libraries/tree/diff.ts'
import { Tree } from '../../src/libraries/tree/tree.ts'
import { openTestCore, type TestCore } from '../support/core.ts'
import { onBothDatabases } from '../support/databases.ts'
import { seededRandom, testSeed } from '../support/random.ts'

const STEPS = 150

onBothDatabases('the path index', (fresh) => {
  it('equals a scan of every commit after random changes', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    const seed = testSeed()
    t.diagnostic(`seed ${seed}`)
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await play(stage, library, seededRandom(seed))
    const { info, tree } = await stage.reopen(library)
    const commits = (await commitRows.listDown(stage.db, info, info.headSeq, 1)).toReversed()
    for (const path of await filesBelow(tree)) {
      const expected = await slowHistory(stage, library, commits, path)
      const { revisions } = await new LibraryHistory(storesOf(stage.core).history, info).listFileHistoryFrom(
        path,
        { limit: 1000 },
      )
      const found = revisions.map((one) => [one.commit.seq, one.path, one.oldPath, one.fileId])
      assert.deepEqual(found, expected, `${path}, seed ${seed}`)
      await expectPages(stage, library, path, expected, seed)
    }
    const trash = await new LibraryHistory(storesOf(stage.core).history, info).findTrash(
      {},
      { page: 1, perPage: 1000 },
    )
    const expected = await slowTrash(stage, library, commits)
    const shown = trash.items.map((row) => [row.path, row.seq, row.isDir] as const)
    assert.deepEqual(new Map(shown.map((row) => [row[0], row])), expected, `trash, seed ${seed}`)
    assert.deepEqual([trash.total, shown.length], [expected.size, expected.size])
  })
})

/** Random changes, most of them to few paths, so that they collide. */
async function play(stage: TestCore, library: EditableLibrary, random: () => number): Promise<void> {
  const { core } = stage
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const names = ['a', 'b', 'c', 'd']
  const noLimit = async () => undefined
  for (let step = 0; step < STEPS; step++) {
    const now = await stage.reopen(library)
    const [files, folders] = [await filesBelow(now.tree), await foldersBelow(now.tree)]
    const entries = [...files, ...folders.slice(1)]
    const folder = pick(folders)
    // The index may be at any position when the next change happens.
    if (random() < 0.3) await storesOf(core).pathIndex.catchUp(now.info)
    const roll = random()
    if (roll < 0.2) await createFile(now, joinPath(folder, pick(names)))
    else if (roll < 0.3) await makeFolder(now, joinPath(folder, pick(names)))
    else if (roll < 0.5 && files.length > 0) await write(now, pick(files), `${step}`)
    else if (entries.length === 0) continue
    else if (roll < 0.65) await rename(core, now, pick(entries), pick(names))
    else if (roll < 0.8) {
      const path = pick(entries)
      if (folder === path || folder.startsWith(`${path}/`)) continue
      const selection = { parent: parentOf(path), names: [baseName(path)] }
      await move(core, now, selection, now, folder, noLimit)
    } else if (roll < 0.96) await removeOne(core, now, pick(entries))
    else {
      const seq = 1 + Math.floor(random() * now.info.headSeq)
      const [commit] = await commitRows.listDown(stage.db, now.info, seq, seq)
      if (commit !== undefined)
        await revertLibrary(core, Object.assign(now, { owner: true as const }), commit.id, noLimit)
    }
  }
}

async function write(library: EditableLibrary, path: LibraryPath, text: string): Promise<void> {
  await library.commit(async (tree) => {
    const name = baseName(path)
    const id = sha1Hex(Buffer.from(text)) as FileId
    await tree.put(parentOf(path), fileDirent({ id, name, mtime: tree.now, size: text.length, modifier: '' }))
    return { description: `Modified "${name}"`, result: undefined }
  })
}

async function foldersBelow(tree: Tree): Promise<LibraryPath[]> {
  const found = [ROOT]
  for (const folder of found) {
    const { dir } = await tree.getDir(folder)
    for (const entry of dir.entries) if (entry.kind === 'dir') found.push(joinPath(folder, entry.name))
  }
  return found
}

async function filesBelow(tree: Tree): Promise<LibraryPath[]> {
  const found: LibraryPath[] = []
  for (const folder of await foldersBelow(tree)) {
    const { dir } = await tree.getDir(folder)
    for (const entry of dir.entries) if (entry.kind === 'file') found.push(joinPath(folder, entry.name))
  }
  return found
}

type Line = [seq: number, path: string, oldPath: string | undefined, fileId: string | undefined][]

/** By definition: commits in which the file differs from its predecessor, through renames, until it was added. */
async function slowHistory(
  { core }: TestCore,
  { info }: EditableLibrary,
  commits: readonly NumberedCommit[],
  head: LibraryPath,
): Promise<Line> {
  const line: Line = []
  let path = head
  for (let seq = commits.length; seq >= 1; seq--) {
    const [commit, before] = [commits[seq - 1], commits[seq - 2]]
    if (commit === undefined || before === undefined) break
    const [now, then] = await Promise.all(
      [commit, before].map(({ rootId }) => new Tree(storesOf(core).objects, info.key, rootId).find(path)),
    )
    const changes = await diffTrees(storesOf(core).objects, info.key, before.rootId, commit.rootId)
    const moved = changes.find(
      (one) => one.op === 'renamed' && (path === one.newPath || path.startsWith(`${one.newPath}/`)),
    )
    const isNew = changes.some(
      (one) => one.op === 'added' && (path === one.path || path.startsWith(`${one.path}/`)),
    )
    if (moved?.op === 'renamed') {
      const from = `${moved.path}${path.slice(moved.newPath.length)}` as LibraryPath
      line.push([seq, path, from, now?.id])
      path = from
    } else if (isNew || then?.kind !== 'file') {
      line.push([seq, path, undefined, now?.id])
      break
    } else if (then.id !== now?.id) line.push([seq, path, undefined, now?.id])
  }
  return line
}

async function slowTrash(
  { core }: TestCore,
  { info }: EditableLibrary,
  commits: readonly NumberedCommit[],
): Promise<Map<LibraryPath, [path: LibraryPath, seq: number, isDir: boolean]>> {
  const latest = new Map<LibraryPath, [LibraryPath, number, boolean]>()
  for (const [index, commit] of commits.entries()) {
    const before = commits[index - 1]
    if (before === undefined) continue
    for (const change of await diffTrees(storesOf(core).objects, info.key, before.rootId, commit.rootId)) {
      if (change.op !== 'deleted') continue
      latest.set(change.path, [change.path, commit.seq, change.entry.kind === 'dir'])
    }
  }
  const last = commits.at(-1)
  if (last === undefined) return latest
  const tree = new Tree(storesOf(core).objects, info.key, last.rootId)
  for (const [path, [, , isDir]] of latest) {
    const entry = await tree.find(path)
    if (entry !== undefined && (entry.kind === 'dir') === isDir) latest.delete(path)
  }
  return latest
}

/** Both ways of paging yield the same list. */
async function expectPages(
  stage: TestCore,
  library: EditableLibrary,
  path: LibraryPath,
  expected: Line,
  seed: number,
): Promise<void> {
  const { info } = await stage.reopen(library)
  const perPage = 3
  const paged: number[] = []
  for (let page = 1; ; page++) {
    const { revisions, total } = await new LibraryHistory(
      storesOf(stage.core).history,
      info,
    ).listFileHistoryPage(path, { page, perPage })
    assert.equal(total, expected.length, `${path}, seed ${seed}`)
    if (revisions.length === 0) break
    paged.push(...revisions.map(({ commit }) => commit.seq))
  }
  const seqs = expected.map(([seq]) => seq)
  assert.deepEqual(paged, seqs, `${path}, seed ${seed}`)
  const followed: number[] = []
  let at = path
  for (let start: Awaited<ReturnType<typeof listFileHistoryFrom>>['next']; ; ) {
    const { revisions, next } = await new LibraryHistory(
      storesOf(stage.core).history,
      info,
    ).listFileHistoryFrom(at, {
      start,
      limit: perPage,
    })
    followed.push(...revisions.map(({ commit }) => commit.seq))
    const last = revisions.at(-1)
    if (next === undefined || last === undefined) break
    start = next
    at = last.oldPath ?? last.path
  }
  assert.deepEqual(followed, seqs, `${path}, seed ${seed}`)
}
