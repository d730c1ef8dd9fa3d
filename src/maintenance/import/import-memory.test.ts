import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { SeafileServer, type SourceLibrary } from '../../../test/support/seafile-layout.ts'
import { peopleImport } from '../../people/accounts/index.ts'
import { openDatabase } from '../../platform/database/index.ts'
import { openDiskBlockStore } from '../../platform/storage/disk/index.ts'
import { LinkSecrets } from '../../sharing/access/index.ts'
import { importSeafile } from './seafile-import.ts'

const ANN = 'ann@example.org'
const FEW = 1000
const MANY = 13_000
const FILES_PER_FOLDER = 500
/** A Set or Map of ids takes more than 80. */
const MAX_BYTES_PER_FILE = 40

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

it('an import keeps nothing in memory for each file of a library', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-import-'))
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const source = new SeafileServer(path.join(folder, 'source'))
  const libraries = []
  // All are written before, because their writer keeps ids. The first two are there to compile the code and to fill the caches.
  for (const files of [FEW, 3 * FEW, FEW, MANY]) libraries.push(await written(source, files))

  const setting = { kind: 'sqlite', file: path.join(folder, 'carrel.db') } as const
  const db = opened.use(await openDatabase(setting, { onFatal: (error) => assert.fail(error) }))
  const blocks = opened.use(await openDiskBlockStore({ directory: path.join(folder, 'blocks') }))
  const fields = { name: '', contactEmail: '', loginId: '', role: 'default', quota: 0 } as const
  const owner = await db.write((tx) =>
    peopleImport.importAccount(tx, { email: ANN, ...fields, passwordHash: '', createdAt: 0, isActive: true }),
  )
  const levels: number[] = []
  for (const { id } of libraries) {
    await importSeafile({
      folder: source.data,
      rows: undefined,
      owner: owner?.account,
      db,
      blocks,
      secrets: new LinkSecrets([Buffer.alloc(32)], () => 0),
      copy: false,
      dirCacheBytes: 2 ** 18,
      isPresent: () => Promise.resolve(false),
      only: new Set([id]),
      now: 1_700_000_000,
      onLibrary() {},
      // All files are imported and all rows are written. What the importer keeps for this library is still there.
      onAdded() {
        levels.push(liveBytes())
        return Promise.resolve()
      },
    })
  }

  const [few, many] = levels.slice(-2) as [number, number]
  const perFile = (many - few) / (MANY - FEW)
  assert.ok(
    perFile < MAX_BYTES_PER_FILE,
    `${perFile.toFixed(1)} bytes per file; live bytes after each library: ${levels.join(', ')}`,
  )
})

/** Bytes of the heap and of buffers that are not garbage. */
function liveBytes(): number {
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

async function written(source: SeafileServer, files: number): Promise<SourceLibrary> {
  const library = await source.addLibrary({ name: `${files} files`, owner: ANN })
  const folders = []
  for (let first = 0; first < files; first += FILES_PER_FOLDER) {
    const entries = []
    for (let at = first; at < first + FILES_PER_FOLDER; at += 1) {
      const bytes = Buffer.from(`${library.id} ${at}`)
      const block = hash('sha1', bytes)
      source.put('blocks', 1, library.id, block, () => bytes)
      const id = await library.writeFileObject([block], bytes.length)
      entries.push({ name: Buffer.from(`${at}.txt`), mode: 33188, id, size: bytes.length })
    }
    const id = await library.writeDir(entries)
    folders.push({ name: Buffer.from(`folder ${first}`), mode: 16384, id, size: undefined })
  }
  await library.commitRoot(await library.writeDir(folders), 'Added')
  return library
}
