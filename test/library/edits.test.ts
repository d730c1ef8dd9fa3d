import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { DomainError } from '../../src/base/errors.ts'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { fileId } from '../../src/base/objects/file.ts'
import { type BlockId, EMPTY_ID, sha1Hex } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { commitRows } from '../../src/libraries/commits/commit-store.ts'
import {
  createFile,
  makeFolder,
  makeFolders,
  remove,
  removeOne,
  rename,
} from '../../src/libraries/edits/entries.ts'
import { copy, move } from '../../src/libraries/edits/move-copy.ts'
import { LibraryHistory } from '../../src/libraries/history/library-history.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { getLibrary, renameLibrary } from '../../src/libraries/library/libraries.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { insertObjects, prepareFile } from '../../src/libraries/tree/object-store.ts'
import { at, openTestCore, type TestCore } from '../support/core.ts'
import { type FreshDatabase, onBothDatabases } from '../support/databases.ts'

const noLimit = async () => undefined

onBothDatabases('edits of a library', (fresh) => {
  it('create one commit each with the description clients know', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    await createFile(library, at('/a.txt'))
    await makeFolder(library, at('/docs'))
    await makeFolders(library, at('/x/y/z'))
    await rename(core, library, at('/a.txt'), 'b.txt')
    await rename(core, library, at('/docs'), 'papers')
    await move(core, library, { parent: ROOT, names: ['b.txt'] }, library, at('/papers'), noLimit)
    await copy(core, library, { parent: at('/papers'), names: ['b.txt'] }, library, ROOT, noLimit)
    await copy(core, library, { parent: ROOT, names: ['papers', 'b.txt'] }, library, at('/x'), noLimit)
    await move(core, library, { parent: at('/x'), names: ['papers', 'b.txt'] }, library, at('/x/y'), noLimit)
    await removeOne(core, library, at('/b.txt'))
    await removeOne(core, library, at('/papers'))
    await remove(core, library, at('/x/y'), ['papers', 'b.txt', 'not there'])
    const { commits } = await new LibraryHistory(
      storesOf(core).history,
      await getLibrary(core, library.info.id),
    ).listHistory(1, 100)
    assert.deepEqual(commits.map((commit) => commit.description).toReversed(), [
      'Created library',
      'Added "a.txt"',
      'Added directory "docs"',
      'Added directory "x/y/z"',
      'Renamed "a.txt"',
      'Renamed directory "docs"',
      'Moved "b.txt"',
      'Added "b.txt"',
      'Added "papers" and 1 more files',
      'Moved "papers" and 1 more files',
      'Deleted "b.txt"',
      'Removed directory "papers"',
      'Deleted "papers" and 1 more files',
    ])
  })

  it('create no commit when they change nothing', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    await createFile(library, at('/a.txt'))
    const before = await getLibrary(core, library.info.id)
    await rename(core, library, at('/a.txt'), 'a.txt')
    await removeOne(core, library, at('/nothing'))
    await remove(core, library, at('/no/such/folder'), ['x'])
    await move(core, library, { parent: ROOT, names: ['a.txt'] }, library, ROOT, noLimit)
    await makeFolders(library, ROOT)
    assert.deepEqual(await getLibrary(core, library.info.id), before)
  })

  it('choose free names across files and folders', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    const names: string[] = []
    for (let i = 0; i < 3; i++) names.push((await createFile(library, at('/a.txt'))).result.entry.name)
    names.push((await makeFolder(library, at('/a.txt'))).result.entry.name)
    names.push((await rename(core, library, at('/a (1).txt'), 'a.txt')).result.entry.name)
    assert.deepEqual(names, ['a.txt', 'a (1).txt', 'a (2).txt', 'a (3).txt', 'a (4).txt'])
  })

  it('reject putting a folder into itself or below itself, and lose nothing', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    await makeFolders(library, at('/a/b/c'))
    const before = await getLibrary(core, library.info.id)
    for (const target of ['/a', '/a/b', '/a/b/c']) {
      const selection = { parent: ROOT, names: ['a'] }
      await assert.rejects(move(core, library, selection, library, at(target), noLimit), fault('into-itself'))
      await assert.rejects(copy(core, library, selection, library, at(target), noLimit), fault('into-itself'))
    }
    assert.deepEqual(await getLibrary(core, library.info.id), before)
  })

  it('keep sizes and file counts correct when folders are copied, moved and deleted', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    await makeFolders(library, at('/in/deep'))
    await putFile(stage, library, '/in/deep', 'one.bin', 1000)
    await putFile(stage, library, '/in', 'two.bin', 500)
    const figures: [number, number][] = []
    const note = async () => {
      const { size, fileCount } = await getLibrary(core, library.info.id)
      figures.push([size, fileCount])
    }
    await note()
    await copy(core, library, { parent: ROOT, names: ['in'] }, library, ROOT, noLimit)
    await note()
    await move(core, library, { parent: ROOT, names: ['in'] }, library, at('/in (1)'), noLimit)
    await note()
    await removeOne(core, library, at('/in (1)/in/deep'))
    await note()
    await removeOne(core, library, at('/in (1)'))
    await note()
    assert.deepEqual(figures, [
      [1500, 2],
      [3000, 4],
      [3000, 4],
      [2000, 3],
      [0, 0],
    ])
    const end = await stage.reopen(library)
    assert.equal(end.info.root, EMPTY_ID)
  })

  it('bring objects and blocks to another library, and keep the source of a copy', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    const other = await stage.newLibrary(library.actor, 'Other')
    await makeFolders(library, at('/d/e'))
    const block = await putFile(stage, library, '/d/e', 'f.bin', 70)
    const source = await stage.reopen(library)
    await copy(core, source, { parent: ROOT, names: ['d'] }, other, ROOT, noLimit)
    await move(core, source, { parent: ROOT, names: ['d'] }, other, ROOT, noLimit)
    const target = await stage.reopen(other)
    assert.deepEqual([target.info.size, target.info.fileCount], [140, 2])
    const file = await target.tree.getFile(at('/d (1)/e/f.bin'))
    const object = await storesOf(core).objects.getFile(target.info.key, file.id as never)
    assert.deepEqual(object, { blockIds: [block], size: 70 })
    const held = await stage.db.all('select library_key from library_block order by library_key')
    assert.deepEqual(
      held.map((row) => row.library_key),
      [library.info.key, other.info.key],
    )
    const emptied = await stage.reopen(library)
    assert.deepEqual([emptied.info.size, emptied.info.root], [0, EMPTY_ID])
  })

  it('report the changes of a commit, including renames and moves', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    await makeFolders(library, at('/d/e'))
    await putFile(stage, library, '/d', 'f.bin', 70)
    const ops = async (seq: { commit: { id: string } | undefined }) => {
      const info = await getLibrary(core, library.info.id)
      const history = new LibraryHistory(storesOf(core).history, info)
      const detail = await history.getCommitDetail(seq.commit?.id as never)
      return detail.changes.map((change) =>
        change.op === 'renamed' ? [change.op, change.path, change.newPath] : [change.op, change.path],
      )
    }
    assert.deepEqual(await ops(await createFile(library, at('/d/new.txt'))), [['added', '/d/new.txt']])
    assert.deepEqual(await ops(await rename(core, library, at('/d/f.bin'), 'g.bin')), [
      ['renamed', '/d/f.bin', '/d/g.bin'],
    ])
    assert.deepEqual(await ops(await rename(core, library, at('/d'), 'D')), [['renamed', '/d', '/D']])
    assert.deepEqual(await ops(await remove(core, library, at('/D'), ['e', 'g.bin'])), [
      ['deleted', '/D/e'],
      ['deleted', '/D/g.bin'],
    ])
    assert.deepEqual(await ops(await makeFolder(library, at('/again'))), [['added', '/again']])
  })

  it('rename the library in a commit of their own', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    await Promise.all([
      renameLibrary(core, library.owned(), 'Renamed', 'and described', undefined),
      createFile(library, at('/meanwhile.txt')),
    ])
    const after = await getLibrary(core, library.info.id)
    assert.deepEqual([after.name, after.description, after.headSeq], ['Renamed', 'and described', 3])
    const head = await commitRows.find(dbOf(core), after, after.head)
    assert.equal(head?.parentId !== null, true)
  })
})

async function open(t: TestContext, fresh: FreshDatabase) {
  const database = await fresh(t)
  if (database === undefined) return undefined
  const stage = await openTestCore(database.setting === undefined ? {} : { setting: database.setting })
  const library = await stage.newLibrary(await stage.actor())
  return { ...stage, library, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

/** Adds a file of one block, like an upload, and returns the block's id. */
async function putFile(
  stage: TestCore,
  library: EditableLibrary,
  folder: string,
  name: string,
  size: number,
): Promise<BlockId> {
  const block = sha1Hex(Buffer.from(`${name} ${size}`)) as BlockId
  const file = { blockIds: [block], size }
  const id = fileId(file)
  await stage.db.write(async (tx) => {
    await tx.insert(
      'library_block',
      ['library_key', 'block_id', 'size'],
      [[library.info.key, Buffer.from(block, 'hex'), size]],
    )
    await insertObjects(tx, library.info.key, [prepareFile(id, file)])
  })
  await library.commit(async (tree) => {
    await tree.put(at(folder), fileDirent({ id, name, mtime: tree.now, size, modifier: library.actor.email }))
    return { description: `Added "${name}".`, result: undefined }
  })
  return block
}

function fault(code: string) {
  return (error: DomainError) => error.fault?.code === code
}
