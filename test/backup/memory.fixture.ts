import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { blockRows } from '../../src/libraries/content/index.ts'
import {
  createSnapshot,
  findManifest,
  openRepository,
  restoreServer,
  Snapshot,
  TargetLock,
  verifyBackup,
} from '../../src/maintenance/backup/index.ts'
import { GarbageReferences } from '../../src/maintenance/gc/index.ts'
import { openSnapshot } from '../../src/platform/database/index.ts'
import { openDiskBlockStore } from '../../src/platform/storage/disk/index.ts'
import { findUnsettled } from '../../src/programs/assembly/backups.ts'
import { at, openTestCore } from '../support/core.ts'

const FILES_PER_FOLDER = 500
const LOOKUPS_PER_NOTE = 500
const NO_PASSPHRASE = { passphraseFile: undefined }

/** Bytes. */
export type Levels = Record<'backup' | 'backup without changes' | 'verify' | 'restore', number>

// A process of its own: node:test notes every asynchronous call of a test. Prints a line of JSON for each number of files that it is given.
const folder = path.resolve(process.argv[2] ?? '')
const sizes = process.argv.slice(3).map(Number)
for (const [n, files] of sizes.entries()) await fill(path.join(folder, `${n}`), files)
for (const n of sizes.keys()) console.log(JSON.stringify(await levelsOf(path.join(folder, `${n}`))))

/** By how much what is alive has grown when each kind of work has seen all files, and has not yet given up what it noted about them. */
async function levelsOf(data: string): Promise<Levels> {
  const [target, restored] = [`${data}-target`, `${data}-restored`]
  const levels: Partial<Levels> = {}
  let current: keyof Levels = 'backup'
  let before = 0
  const begin = (work: keyof Levels) => {
    current = work
    before = liveBytes()
  }
  const note = () => {
    levels[current] = Math.max(levels[current] ?? 0, liveBytes() - before)
  }
  for (const work of ['backup', 'backup without changes'] as const) {
    begin(work)
    await backUp(data, target, note)
  }
  begin('verify')
  const repository = await openRepository(target, NO_PASSPHRASE)
  // Blocks are looked up while trees are walked, and once more for each library that holds them, which comes last.
  const has = repository.has.bind(repository)
  let lookups = 0
  repository.has = (kind, id) => {
    lookups += 1
    if (lookups % LOOKUPS_PER_NOTE === 0) note()
    return has(kind, id)
  }
  assert.deepEqual((await verifyBackup(repository, { readData: true })).problems, [])
  begin('restore')
  const { missing } = await restoreServer(
    new Snapshot(repository, await findManifest(repository, 'latest')),
    {
      dataDirectory: restored,
      database: { kind: 'sqlite', file: path.join(restored, 'carrel.db') },
      openBlocks: () => openDiskBlockStore({ directory: path.join(restored, 'blocks') }),
    },
    { onLoaded: async () => note() },
  )
  assert.deepEqual(missing, [])
  return levels as Levels
}

/** Bytes of the heap that are not garbage. Those of buffers are not counted: the packs that are cached grow with the files up to their limit. */
function liveBytes(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

function openData(data: string) {
  return openTestCore({ folder: data, dirCacheBytes: 2 ** 18 })
}

async function fill(data: string, files: number): Promise<void> {
  await mkdir(data)
  await using stage = await openData(data)
  const library = await stage.newLibrary(await stage.actor())
  for (let first = 0; first < files; first += FILES_PER_FOLDER) {
    const folder = at(`/${first}`)
    await library.commit(async (tree) => {
      await tree.makeDirs(folder)
      const contents = []
      for (let n = first; n < first + FILES_PER_FOLDER; n += 1) {
        const content = await stage.core.incoming.receive(one(Buffer.from(`file ${n}`)))
        contents.push(content)
        const { id, size } = content
        await tree.put(folder, fileDirent({ id, name: `${n}`, size, mtime: 1, modifier: '' }))
      }
      return { description: 'Added', result: 0, contents }
    })
  }
}

async function backUp(data: string, folder: string, onEnd: () => void): Promise<void> {
  await using stage = await openData(data)
  const { db, file, blocks, core } = stage
  const repository = await openRepository(folder, NO_PASSPHRASE, { create: true })
  // The manifest is the last object of a backup.
  const { target } = repository
  const put = target.put.bind(target)
  target.put = async (name, bytes) => {
    if (name.startsWith('snapshots/')) onEnd()
    await put(name, bytes)
  }
  await using lock = await TargetLock.acquire(target, 'write', 'carrel backup')
  const { damaged, gaps } = await createSnapshot(
    repository,
    {
      openSnapshot: () => openSnapshot({ kind: 'sqlite', file }),
      findGarbage: (snapshot) => GarbageReferences.find(snapshot, core.now()),
      findUnsettled,
      blocks,
      areBlocksKept: async () => true,
      heldNow: (ids) => blockRows.findHeldAnywhere(db, ids),
      secret: null,
      settings: null,
      host: 'test',
      version: '0',
    },
    { lock },
  )
  assert.deepEqual([damaged, gaps], [[], []])
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes
}
