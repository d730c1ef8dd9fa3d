import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, unlink } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { SeafileServer } from '../../../test/support/seafile-layout.ts'
import { type BlockId, idToBytes, sha1Hex } from '../../base/objects/index.ts'
import { peopleImport } from '../../people/accounts/index.ts'
import { openDatabase } from '../../platform/database/index.ts'
import { openDiskBlockStore } from '../../platform/storage/disk/index.ts'
import { LinkSecrets } from '../../sharing/access/index.ts'
import { importSeafile } from './seafile-import.ts'

const ANN = 'ann@example.org'
const SMALL_BYTES = 60_000
/** Their bytes are more than two flushes take. */
const FOLDERS = 8
const FILES_PER_FOLDER = 75

it('an import writes rows while it goes on, and copies each block once', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-import-'))
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const source = new SeafileServer(path.join(folder, 'source'))
  const library = await source.addLibrary({ name: 'Library', owner: ANN })
  const shared = randomBytes(SMALL_BYTES)
  const lost = randomBytes(SMALL_BYTES)
  const large = randomBytes(70_000)
  const tree: Record<string, Record<string, Buffer>> = {}
  for (let at = 0; at < FOLDERS; at += 1) {
    // Its second block is the lost one.
    const cut = Buffer.concat([randomBytes(library.blockBytes), lost])
    const files: Record<string, Buffer> = { shared, large, cut }
    for (let file = 0; file < FILES_PER_FOLDER; file += 1) files[String(file)] = randomBytes(SMALL_BYTES)
    tree[`folder ${at}`] = files
  }
  await library.commit(tree, 'Added')
  const lostId = sha1Hex(lost) as BlockId
  await unlink(source.fileOf('blocks', 1, library.id, lostId))

  const setting = { kind: 'sqlite', file: path.join(folder, 'carrel.db') } as const
  const db = opened.use(await openDatabase(setting, { onFatal: (error) => assert.fail(error) }))
  const blocks = opened.use(await openDiskBlockStore({ directory: path.join(folder, 'blocks') }))
  const fields = { name: '', contactEmail: '', loginId: '', role: 'default', quota: 0 } as const
  const added = await db.write((tx) =>
    peopleImport.importAccount(tx, { email: ANN, ...fields, passwordHash: '', createdAt: 0, isActive: true }),
  )
  const report = await importSeafile({
    folder: source.data,
    rows: undefined,
    owner: added?.account,
    db,
    blocks,
    secrets: new LinkSecrets([Buffer.alloc(32)], () => 0),
    copy: false,
    dirCacheBytes: 2 ** 20,
    isPresent: () => Promise.resolve(false),
    only: undefined,
    now: 1_700_000_000,
    onLibrary() {},
    onAdded: () => Promise.resolve(),
  })

  const unique = FOLDERS * FILES_PER_FOLDER
  assert.deepEqual(
    report.libraries.map(({ state, files }) => [state, files]),
    [['imported', unique + 3 * FOLDERS]],
  )
  assert.deepEqual([report.blocks.small, report.blocks.present], [unique + 1, 0])
  assert.deepEqual(report.problemCounts, { 'block-missing': FOLDERS })
  const count = async (table: string) =>
    (await db.get<{ found: number }>(`select count(*) as found from ${table}`))?.found
  assert.equal(await count('small_block'), unique + 1)
  assert.equal(await count('library_block'), unique + 3 + FOLDERS)
  // The files, the folders and the root.
  assert.equal(await count('fs_object'), unique + 2 + FOLDERS + FOLDERS + 1)
  const sizes = await db.all<{ size: number }>(
    'select size from library_block where block_id = ?',
    idToBytes(lostId),
  )
  assert.deepEqual(
    sizes.map(({ size }) => size),
    [SMALL_BYTES],
  )
})
