import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, unlink } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { recordFileCalls } from '../../../test/support/file-calls.ts'
import { SeafileServer } from '../../../test/support/seafile-layout.ts'
import { type BlockId, type LibraryId, sha1Hex } from '../../base/objects/index.ts'
import { openDatabase } from '../../platform/database/index.ts'
import { openDiskBlockStore } from '../../platform/storage/disk/index.ts'
import { BlockStoreError } from '../../platform/storage/index.ts'
import { BlockCopier } from './block-copier.ts'
import { Problems } from './problems.ts'
import { SeafileLayout } from './seafile-layout.ts'
import { TreeBlocks } from './tree-blocks.ts'

/** The blocks of a library that is being imported into an empty server. */
async function setUp() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-tree-blocks-'))
  const opened = new AsyncDisposableStack()
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const source = new SeafileServer(path.join(folder, 'source'))
  const library = await source.addLibrary({ name: 'Library', owner: 'ann@example.org' })
  const setting = { kind: 'sqlite', file: path.join(folder, 'carrel.db') } as const
  const onFatal = (error: Error) => assert.fail(error)
  const db = opened.use(await openDatabase(setting, { onFatal }))
  const directory = path.join(folder, 'blocks')
  // The plain store works in this thread, where calls can be recorded.
  const blocks = opened.use(await openDiskBlockStore({ directory, implementation: 'plain' }))
  const copier = opened.use(new BlockCopier({ blocks, copy: false }))
  const problems = new Problems()
  const trees = new TreeBlocks({
    db,
    libraryKey: 1,
    libraryId: library.id,
    layout: await SeafileLayout.open(source.data),
    store: { id: library.id as LibraryId, version: 1 },
    copier,
    problems,
    isEncrypted: false,
    now: 1_700_000_000,
  })
  /** Writes a file of one block. */
  const write = async (bytes: Buffer) => {
    await library.writeFile(bytes)
    const id = sha1Hex(bytes) as BlockId
    return { id, file: { blockIds: [id], size: bytes.length } }
  }
  const sourceOf = (id: BlockId) => source.fileOf('blocks', 1, library.id, id)
  return { directory, trees, problems, write, sourceOf, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

describe('the blocks of imported trees', () => {
  it('have rows only once their folders are flushed', { skip: process.platform !== 'linux' }, async () => {
    await using test = await setUp()
    const [large, small] = [await test.write(randomBytes(70_000)), await test.write(Buffer.from('small'))]
    const folder = path.join(test.directory, large.id.slice(0, 2))
    await using recorded = await recordFileCalls()
    await test.trees.add([{ path: '/large', file: large.file }])
    await test.trees.add([
      { path: '/small', file: small.file },
      { path: '/large again', file: large.file },
    ])
    const { held, small: bytes } = await test.trees.take()
    assert.deepEqual(recorded.calls.at(-1), { kind: 'flush', path: folder })
    assert.equal(recorded.calls.filter((call) => call.path === folder).length, 1)
    assert.deepEqual(held, [
      { id: large.id, size: 70_000 },
      { id: small.id, size: 5 },
    ])
    assert.deepEqual(
      Array.from(bytes, ([id, stored]) => [id, String(stored)]),
      [[small.id, 'small']],
    )
    assert.deepEqual(await test.trees.take(), { held: [], small: new Map() })
  })

  it('that are lost are reported for each file, and recorded once', async () => {
    await using test = await setUp()
    const lost = await test.write(randomBytes(70_000))
    await unlink(test.sourceOf(lost.id))
    await test.trees.add([{ path: '/one', file: lost.file }])
    await test.trees.add([{ path: '/two', file: lost.file }])
    assert.deepEqual((await test.trees.take()).held, [{ id: lost.id, size: 70_000 }])
    assert.deepEqual(
      test.problems.list.map(({ kind, message }) => `${kind} ${message}`),
      ['/one', '/two'].map((name) => `block-missing ${name}: the block ${lost.id} is missing.`),
    )
    assert.equal(await test.trees.recordLost(), 1)
  })

  it('that cannot be stored end the import', async () => {
    await using test = await setUp()
    const block = await test.write(randomBytes(70_000))
    await rm(path.join(test.directory, block.id.slice(0, 2)), { recursive: true })
    await test.trees.add([{ path: '/one', file: block.file }])
    await assert.rejects(test.trees.take(), BlockStoreError)
  })
})
