import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { it, type TestContext } from 'node:test'
import type { DomainError } from '../../src/base/errors.ts'
import type { Dirent } from '../../src/base/objects/dirent.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { type Content, emptyContent } from '../../src/libraries/content/content.ts'
import { createFile, makeFolder, removeOne } from '../../src/libraries/edits/entries.ts'
import { copy } from '../../src/libraries/edits/move-copy.ts'
import { addFiles, replaceFile } from '../../src/libraries/edits/upload.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { fileLocks } from '../../src/libraries/library/locks.ts'
import { BlockDamaged, BlockMissing } from '../../src/platform/storage/block-store.ts'
import { at, openTestCore } from '../support/core.ts'
import { type FreshDatabase, onBothDatabases } from '../support/databases.ts'

const SIZES = [0, 1, 4096, 65_535, 65_536, 65_537, 6 * 2 ** 20 - 1, 12 * 2 ** 20 + 3, 21 * 2 ** 20]

onBothDatabases('content of files', (fresh) => {
  it('reads back byte for byte, whole and in ranges, at any size', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    for (const size of SIZES) {
      const bytes = randomBytes(size)
      const content = await receive(stage, bytes, 70_001)
      assert.equal(content.size, size)
      const { result } = await addFiles(stage.core, stage.library, ROOT, [{ name: `${size}`, content }])
      const entry = result[0]?.entry
      assert.ok(entry)
      assert.ok((await read(stage, entry)).equals(bytes), `${size} bytes`)
      const cuts = [0, 1, 65_535, 65_536, 6 * 2 ** 20, 10 * 2 ** 20, size].filter((cut) => cut <= size)
      for (const start of cuts) {
        for (const end of cuts) {
          if (start >= end) continue
          const part = await read(stage, entry, { start, end })
          assert.ok(part.equals(bytes.subarray(start, end)), `bytes ${start} to ${end} of ${size}`)
        }
      }
    }
  })

  it('is stored once, however often it is added', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const bytes = randomBytes(200_000)
    for (const name of ['a', 'b']) {
      const content = await receive(stage, bytes)
      await addFiles(stage.core, stage.library, ROOT, [{ name, content }])
    }
    const rows = await stage.db.get<{ n: number }>('select count(*) as n from library_block')
    assert.equal(rows?.n, 1)
    assert.equal((await stage.reopen(stage.library)).info.size, 400_000)
  })

  it('of one library cannot be read through another library by its id', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const content = await receive(stage, randomBytes(100))
    await addFiles(stage.core, stage.library, ROOT, [{ name: 'secret', content }])
    const other = await stage.newLibrary(await stage.actor())
    const file = { blockIds: content.blocks.map((block) => block.id), size: content.size }
    const stolen = storesOf(stage.core).content.read(other.info.key, file)
    await assert.rejects(Array.fromAsync(stolen), BlockMissing)
    const library = await stage.reopen(stage.library)
    const selection = { parent: ROOT, names: ['secret'] }
    const target = await stage.newLibrary(library.actor)
    await copy(stage.core, library, selection, target, ROOT, async () => undefined)
    const copied = await Array.fromAsync(storesOf(stage.core).content.read(target.info.key, file))
    assert.equal(Buffer.concat(copied).length, 100)
  })

  it('throws for a damaged block and never returns wrong bytes', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    for (const size of [100, 300_000]) {
      const content = await receive(stage, randomBytes(size))
      const { result } = await addFiles(stage.core, stage.library, ROOT, [{ name: `${size}`, content }])
      const id = content.blocks[0]?.id ?? ''
      if (size === 100) {
        await stage.db.write((tx) => tx.run('update small_block set data = ?', randomBytes(size)))
      } else {
        const blocks = path.join(path.dirname(stage.file), 'blocks')
        await writeFile(path.join(blocks, id.slice(0, 2), id.slice(2)), randomBytes(size))
      }
      await assert.rejects(read(stage, result[0]?.entry as Dirent), BlockDamaged)
    }
  })

  it('leaves nothing behind when the sender disconnects', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const cutShort = async function* () {
      yield randomBytes(8 * 2 ** 20)
      yield randomBytes(8 * 2 ** 20)
      throw new Error('gone')
    }
    await assert.rejects(stage.core.incoming.receive(cutShort()), /gone/)
    const rows = await stage.db.get<{ n: number }>('select count(*) as n from library_block')
    assert.equal(rows?.n, 0)
    for await (const id of stage.blocks.list()) assert.fail(`${id} is left`)
  })
})

onBothDatabases('uploads', (fresh) => {
  it('that are queued together share a commit, and sequential ones do not', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    const content = await receive(stage, Buffer.from('hello'))
    const one = (name: string) => addFiles(core, library, ROOT, [{ name, content }])
    await one('a')
    await Promise.all(['b', 'c', 'd'].map(one))
    await addFiles(core, library, ROOT, [
      { name: 'e', content },
      { name: 'f', content },
    ])
    const { commits } = await (await stage.reopen(library)).history.listHistory(1, 10)
    assert.deepEqual(
      commits.map((commit) => commit.description),
      ['Added "e" and 1 more files.', 'Added "b" and 2 more files.', 'Added "a".', 'Created library'],
    )
  })

  it('with the same name get separate names, or replace each other on request', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    const content = await receive(stage, Buffer.from('x'))
    const add = async (replace: boolean) => {
      const { result } = await addFiles(core, library, ROOT, [{ name: 'a.txt', content }], { replace })
      return result[0]?.entry.name
    }
    const names = await Promise.all([add(false), add(false), add(false)])
    assert.deepEqual(names.toSorted(), ['a (1).txt', 'a (2).txt', 'a.txt'])
    assert.deepEqual(await Promise.all([add(true), add(true)]), ['a.txt', 'a.txt'])
    await removeOne(core, library, at('/a.txt'))
    await makeFolder(library, at('/a.txt'))
    assert.equal(await add(true), 'a (3).txt')
  })

  it('create their folders in the same commit, and leave nothing if a file has such a path', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    const content = await receive(stage, Buffer.from('x'))
    const before = (await stage.reopen(library)).info.headSeq
    await addFiles(core, library, ROOT, [{ name: 'f', content }], { into: at('/a/b') })
    const after = await stage.reopen(library)
    assert.equal(after.info.headSeq, before + 1)
    await after.tree.getFile(at('/a/b/f'))
    const blocked = addFiles(core, library, at('/a'), [{ name: 'g', content }], { into: at('/b/f/c') })
    await assert.rejects(blocked, (error: DomainError) => error.fault.code === 'path-not-found')
    assert.equal((await stage.reopen(library)).info.head, after.info.head)
  })

  it('do not replace a file that another account has locked', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    await createFile(library, at('/a.txt'))
    const other = await stage.reopen({ info: library.info, actor: await stage.actor() })
    await fileLocks.lock(core, other, at('/a.txt'), 0)
    const content = await receive(stage, Buffer.from('x'))
    const isLocked = (error: DomainError) => error.fault.code === 'locked'
    const files = [{ name: 'a.txt', content }]
    await assert.rejects(addFiles(core, library, ROOT, files, { replace: true }), isLocked)
    await assert.rejects(replaceFile(core, library, at('/a.txt'), content), isLocked)
    await addFiles(core, library, ROOT, files)
    await replaceFile(core, other, at('/a.txt'), content)
  })
})

onBothDatabases('updates of a file', (fresh) => {
  it('replace its content in one commit, and create none for unchanged content', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    await createFile(library, at('/a.txt'))
    const content = await receive(stage, Buffer.from('new'))
    const first = await replaceFile(core, library, at('/a.txt'), content, { mtime: 1234 })
    assert.equal(first.commit?.description, 'Modified "a.txt"')
    assert.deepEqual([first.result.entry.size, first.result.entry.mtime], [3, 1234])
    const second = await replaceFile(core, library, at('/a.txt'), content)
    assert.equal(second.commit, undefined)
    await assert.rejects(replaceFile(core, library, at('/no'), content), (error: DomainError) => {
      return error.fault.code === 'path-not-found'
    })
    const emptied = await replaceFile(core, library, at('/a.txt'), emptyContent)
    assert.equal(emptied.result.entry.size, 0)
  })

  it('based on an older commit keep both versions only if both changed', async (t) => {
    await using stage = await open(t, fresh)
    if (stage === undefined) return
    const { core, library } = stage
    const contents = await Promise.all(
      ['one', 'two', 'three', 'four'].map((text) => receive(stage, Buffer.from(text))),
    )
    const [one, two, three, four] = contents as [Content, Content, Content, Content]
    await addFiles(core, library, ROOT, [{ name: 'a.txt', content: one }])
    const base = (await stage.reopen(library)).info.head
    await createFile(library, at('/unrelated'))
    const merged = await replaceFile(core, library, at('/a.txt'), two, { base })
    assert.equal(merged.result.path, '/a.txt')
    const conflict = await replaceFile(core, library, at('/a.txt'), three, { base, mtime: 1_700_000_000 })
    const name = `a (SFConflict ${library.actor.email} 2023-11-14-22-13-20).txt`
    assert.equal(conflict.result.entry.name, name)
    const now = await stage.reopen(library)
    assert.equal((await now.tree.getFile(at('/a.txt'))).id, two.id)
    assert.equal((await now.tree.getFile(at(`/${name}`))).id, three.id)
    await removeOne(core, library, at('/a.txt'))
    const revived = await replaceFile(core, library, at('/a.txt'), four, { base })
    assert.equal(revived.result.path, '/a.txt')
  })
})

async function open(t: TestContext, fresh: FreshDatabase) {
  const database = await fresh(t)
  if (database === undefined) return undefined
  const stage = await openTestCore(database.setting === undefined ? {} : { setting: database.setting })
  const library = await stage.newLibrary(await stage.actor())
  return { ...stage, library, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

type Stage = NonNullable<Awaited<ReturnType<typeof open>>>

function receive(stage: Stage, bytes: Buffer, pieceBytes = 65_536): Promise<Content> {
  const pieces = function* () {
    for (let start = 0; start < bytes.length; start += pieceBytes)
      yield bytes.subarray(start, start + pieceBytes)
  }
  return stage.core.incoming.receive(Readable.from(pieces()))
}

async function read(stage: Stage, entry: Dirent, range?: { start: number; end: number }): Promise<Buffer> {
  assert.equal(entry.kind, 'file')
  const file = await storesOf(stage.core).objects.getFile(stage.library.info.key, entry.id)
  return Buffer.concat(
    await Array.fromAsync(storesOf(stage.core).content.read(stage.library.info.key, file, range)),
  )
}
