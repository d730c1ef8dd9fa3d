import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { blockIdOf } from '../../../../test/support/block-store.contract.ts'
import { type FileCalls, recordFileCalls } from '../../../../test/support/file-calls.ts'
import type { BlockId } from '../../../base/objects/index.ts'
import { type Adopter, type BlockFile, BlockStoreError, readWhole } from '../block-store.ts'
import { syncFileSystem } from './block-directory.ts'
import { openDiskBlockStore } from './disk-block-store.ts'

const root = mkdtempSync(path.join(tmpdir(), 'carrel-adopter-'))
after(() => rm(root, { recursive: true }))

const SHORT = 1000
let tests = 0

/** A store, an adopter of it, and a folder with files to adopt. */
async function setUp(implementation: 'plain' | 'fast', copy = false) {
  const folder = path.join(root, String(tests++))
  const [directory, source] = [path.join(folder, 'blocks'), path.join(folder, 'source')]
  await mkdir(source, { recursive: true })
  const opened = new AsyncDisposableStack()
  const store = opened.use(await openDiskBlockStore({ directory, implementation }))
  const openAdopter = (): Adopter => {
    const adopter = store.openAdopter?.({ copy, returnBelow: SHORT })
    assert.ok(adopter)
    return opened.use(adopter)
  }
  /** A file that is named like a block, with these bytes. */
  const write = async (bytes: Buffer, id = blockIdOf(bytes)): Promise<BlockFile> => {
    const file = path.join(source, id)
    await writeFile(file, bytes)
    return { id, file }
  }
  const fileOf = (id: BlockId) => path.join(directory, id.slice(0, 2), id.slice(2))
  const leftovers = () => readdir(path.join(directory, 'tmp'))
  return {
    directory,
    source,
    store,
    openAdopter,
    write,
    fileOf,
    leftovers,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

for (const implementation of ['plain', 'fast'] as const) {
  describe(`an adopter of the ${implementation} disk store`, () => {
    it('shares the bytes of files on its own file system, and leaves the files as they are', async () => {
      await using test = await setUp(implementation)
      const contents = Array.from({ length: 300 }, (_, index) => randomBytes(SHORT + index))
      const files = await Promise.all(contents.map((bytes) => test.write(bytes)))
      const adopter = test.openAdopter()
      const adopted = await adopter.add(files)
      await adopter.flush()
      for (const [index, bytes] of contents.entries()) {
        const result = adopted[index]
        assert.ok(result?.how === 'reflink' || result?.how === 'hard link', result?.how)
        assert.equal(result.size, bytes.length)
        assert.deepEqual(await readWhole(test.store, blockIdOf(bytes)), bytes)
        assert.deepEqual(await readFile(files[index]?.file ?? ''), bytes)
      }
      assert.deepEqual(await test.leftovers(), [])
      assert.equal((await readdir(test.source)).length, files.length)
    })

    it('copies where it is told to', async () => {
      await using test = await setUp(implementation, true)
      const bytes = randomBytes(3 * 2 ** 20 + 5)
      const file = await test.write(bytes)
      const adopter = test.openAdopter()
      assert.deepEqual(await adopter.add([file]), [{ how: 'copy', size: bytes.length }])
      await adopter.flush()
      const [stored, source] = await Promise.all([stat(test.fileOf(file.id)), stat(file.file)])
      assert.notEqual(stored.ino, source.ino)
      assert.equal(stored.mode & 0o777, 0o600)
      assert.deepEqual(await readWhole(test.store, file.id), bytes)
      assert.deepEqual(await test.leftovers(), [])
    })

    it('copies many files, and leaves nothing behind of those that are damaged', async () => {
      await using test = await setUp(implementation, true)
      const contents = Array.from({ length: 100 }, (_, index) => randomBytes(SHORT + 20_000 * (index % 7)))
      const files = await Promise.all(contents.map((bytes) => test.write(bytes)))
      const isDamaged = (index: number) => index % 10 === 3
      for (const [index, { file }] of files.entries())
        if (isDamaged(index)) await writeFile(file, randomBytes(SHORT + 5))
      const adopter = test.openAdopter()
      const adopted = await adopter.add(files)
      await adopter.flush()
      for (const [index, bytes] of contents.entries()) {
        const expected = isDamaged(index) ? { how: 'damaged' } : { how: 'copy', size: bytes.length }
        assert.deepEqual(adopted[index], expected)
        if (!isDamaged(index)) assert.deepEqual(await readWhole(test.store, blockIdOf(bytes)), bytes)
      }
      assert.equal((await Array.fromAsync(test.store.list())).length, 90)
      assert.deepEqual(await test.leftovers(), [])
    })

    for (const copy of [false, true]) {
      it(`stores nothing of files that are lost, and returns short ones, ${copy ? 'copied' : 'shared'}`, async () => {
        await using test = await setUp(implementation, copy)
        const [short, wrong, wrongShort, empty] = [SHORT - 1, 5000, 10, 0].map((size) => randomBytes(size))
        assert.ok(short && wrong && wrongShort && empty)
        const unknown = Array.from({ length: 5 }, () => blockIdOf(randomBytes(20)))
        const [one, two, three, four, five] = unknown
        await mkdir(path.join(test.source, String(five)))
        const adopter = test.openAdopter()
        const adopted = await adopter.add([
          await test.write(short),
          await test.write(wrong, one),
          await test.write(wrongShort, two),
          await test.write(empty, three),
          { id: four as BlockId, file: path.join(test.source, 'nowhere', 'at-all') },
          { id: five as BlockId, file: path.join(test.source, String(five)) },
        ])
        assert.deepEqual(
          adopted.map(({ how }) => how),
          ['returned', 'damaged', 'damaged', 'damaged', 'missing', 'missing'],
        )
        assert.ok(adopted[0]?.how === 'returned' && short.equals(adopted[0].bytes))
        await adopter.flush()
        assert.deepEqual(await Array.fromAsync(test.store.list()), [])
        assert.deepEqual(await test.leftovers(), [])
      })
    }

    it('finds blocks that are stored, takes retired ones back, and replaces those of another length', async () => {
      await using test = await setUp(implementation)
      const contents = [randomBytes(2000), randomBytes(3000), randomBytes(4000)]
      const files = await Promise.all(contents.map((bytes) => test.write(bytes)))
      for (const bytes of contents) await test.store.put(blockIdOf(bytes), bytes)
      const [, retired, cut] = files
      assert.ok(retired && cut)
      await test.store.retire(retired.id)
      await truncate(test.fileOf(cut.id), 10)
      const adopter = test.openAdopter()
      const adopted = await adopter.add(files)
      await adopter.flush()
      assert.deepEqual(adopted.slice(0, 2), [
        { how: 'present', size: 2000 },
        { how: 'present', size: 3000 },
      ])
      assert.notEqual(adopted[2]?.how, 'present')
      for (const bytes of contents) assert.deepEqual(await readWhole(test.store, blockIdOf(bytes)), bytes)
      assert.deepEqual(await Array.fromAsync(test.store.listRetired()), [])
      assert.deepEqual(await test.leftovers(), [])
    })

    it('takes no file that cannot be looked at for a missing one', async () => {
      await using test = await setUp(implementation)
      const id = blockIdOf(randomBytes(SHORT))
      const file = path.join(test.source, id)
      await symlink(file, file)
      const isFailure = (error: unknown) =>
        error instanceof BlockStoreError && error.message.includes('ELOOP')
      await assert.rejects(test.openAdopter().add([{ id, file }]), isFailure)
      const absent = path.join(test.source, 'absent')
      assert.deepEqual(await test.openAdopter().add([{ id, file: absent }]), [{ how: 'missing' }])
    })

    it('rejects if a block cannot be stored, and stores the others', async () => {
      await using test = await setUp(implementation)
      const [lost, stored] = randomBlocks(2, 'different')
      assert.ok(lost && stored)
      const files = [await test.write(lost), await test.write(stored)]
      const adopter = test.openAdopter()
      await rm(path.dirname(test.fileOf(blockIdOf(lost))), { recursive: true })
      await assert.rejects(adopter.add(files), BlockStoreError)
      await adopter.flush()
      assert.deepEqual(await readWhole(test.store, blockIdOf(stored)), stored)
      assert.deepEqual(await test.leftovers(), [])
    })
  })
}

// The fast store does the same in threads, where calls cannot be recorded.
describe('an adopted block', { skip: process.platform !== 'linux' }, () => {
  it('that is copied is flushed before it is named, and its folder once for all its blocks', async () => {
    await using test = await setUp('plain', true)
    const contents = randomBlocks(3, 'same')
    const files = await Promise.all(contents.map((bytes) => test.write(bytes)))
    const adopter = test.openAdopter()
    await using recorded = await recordFileCalls()
    await adopter.add(files)
    const each = ['flush tmp', 'rename block']
    assert.deepEqual(stepsOf(recorded, test.directory), [...each, ...each, ...each])
    recorded.clear()
    await adopter.flush()
    assert.deepEqual(stepsOf(recorded, test.directory), ['flush folder'])
    recorded.clear()
    await adopter.flush()
    assert.deepEqual(stepsOf(recorded, test.directory), [])
  })

  it('that is shared is flushed before it is named, unless the file system was flushed since it changed', async () => {
    await using test = await setUp('plain')
    const files = await Promise.all(Array.from({ length: 100 }, () => test.write(randomBytes(2000))))
    const adopter = test.openAdopter()
    const each = ['flush tmp', 'rename block']
    await using recorded = await recordFileCalls()
    await adopter.add(files.slice(0, 1))
    assert.deepEqual(stepsOf(recorded, test.directory), each, 'a flush of the file system for one file')
    recorded.clear()
    await clockTick(test.source)
    const adopted = await adopter.add(files.slice(1))
    // A reflink is a new file.
    const isFlushed = adopted[0]?.how === 'hard link' && (await syncFileSystem(test.source))
    assert.deepEqual(
      stepsOf(recorded, test.directory),
      files.slice(1).flatMap(() => (isFlushed ? ['rename block'] : each)),
    )
    recorded.clear()
    await adopter.add([await test.write(randomBytes(2000))])
    assert.deepEqual(stepsOf(recorded, test.directory), each, 'it is younger than the flush')
  })

  it('that was stored by a process that was killed is flushed with its folder', async () => {
    await using test = await setUp('plain')
    const bytes = randomBytes(2000)
    const file = await test.write(bytes)
    await writeFile(test.fileOf(file.id), bytes)
    const adopter = test.openAdopter()
    await using recorded = await recordFileCalls()
    assert.deepEqual(await adopter.add([file]), [{ how: 'present', size: 2000 }])
    await adopter.flush()
    assert.deepEqual(stepsOf(recorded, test.directory), ['flush folder'])
  })
})

/** Resolves when new files get a later ctime than those that are there. */
async function clockTick(folder: string): Promise<void> {
  const file = path.join(folder, 'clock')
  const write = async () => {
    await writeFile(file, '')
    return (await stat(file)).ctimeMs
  }
  const first = await write()
  let now: number
  do now = await write()
  while (now === first)
}

/** Random blocks, all in one folder of a store or each in another one. */
function randomBlocks(count: number, folders: 'same' | 'different'): Buffer[] {
  const found: Buffer[] = []
  const prefixes = new Set<string>()
  while (found.length < count) {
    const bytes = randomBytes(2000)
    const prefix = blockIdOf(bytes).slice(0, 2)
    if (found.length > 0 && prefixes.has(prefix) !== (folders === 'same')) continue
    prefixes.add(prefix)
    found.push(bytes)
  }
  return found
}

/** The calls by the kind of file they are about. */
function stepsOf({ calls }: FileCalls, directory: string): string[] {
  return calls.map((call) => {
    const [folder = '', name] = path.relative(directory, call.path).split(path.sep)
    const what = folder === 'tmp' ? 'tmp' : name === undefined ? 'folder' : 'block'
    return `${call.kind} ${what}`
  })
}
