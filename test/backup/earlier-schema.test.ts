import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import type { BlockId } from '../../src/base/objects/index.ts'
import { createSnapshot } from '../../src/maintenance/backup/create.ts'
import { TargetLock } from '../../src/maintenance/backup/lock.ts'
import { openRepository } from '../../src/maintenance/backup/open-target.ts'
import { knownSchemaVersion } from '../../src/platform/database/inspect.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { openSnapshot } from '../../src/platform/database/snapshot.ts'
import { openDiskBlockStore } from '../../src/platform/storage/disk/index.ts'
import { unpack } from '../crash/scenarios.ts'
import { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { download } from '../support/encrypted.ts'
import { FaultInjector } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { findPostgres } from '../support/postgres.ts'
import { startServer } from '../support/server.ts'
import { namesIn, uploadFile } from '../support/transfer.ts'
import { temporaryFolder } from './support.ts'

// Snapshots as the version with schema 17 made them. A backup does not migrate, so they are made here from a data folder of that version.

const FIXTURE = 'schema-17-backups'
const FIXTURE_SCHEMA = 17
const SECRET = 'a secret for the fixture'

/** A target with a snapshot of the earlier schema. The data folder is deleted by the caller. */
async function createEarlierSnapshot(target: string) {
  const data = await unpack(FIXTURE)
  await using blocks = await openDiskBlockStore({ directory: path.join(data, 'blocks') })
  const repository = await openRepository(target, { passphraseFile: undefined }, { create: true })
  await using lock = await TargetLock.acquire(repository.target, 'write', 'carrel backup')
  const source = {
    openSnapshot: () => openSnapshot({ kind: 'sqlite', file: path.join(data, 'carrel.db') }),
    findGarbage: async () => new Set(),
    findUnsettled: async () => new Set<number>(),
    blocks,
    areBlocksKept: async () => true,
    heldNow: async () => new Set<BlockId>(),
    secret: SECRET,
    settings: null,
    host: 'earlier',
    version: '0.0.1',
  }
  const manifest = await createSnapshot(repository, source, { lock })
  assert.equal(manifest.schemaVersion, FIXTURE_SCHEMA)
  assert.ok(manifest.schemaVersion < knownSchemaVersion)
  assert.deepEqual(manifest.damaged, [])
  const { library, tokens } = JSON.parse(readFileSync(path.join(data, 'manifest.json'), 'utf8')) as {
    library: string
    tokens: { ann: string }
  }
  return { data, library, token: tokens.ann, snapshot: manifest.id }
}

describe('a snapshot of an earlier schema', () => {
  it('is restored into PostgreSQL, also when the restore is killed after the migration', {
    skip: cannotBuildShim(),
  }, async (t) => {
    const postgres = await findPostgres()
    if (typeof postgres === 'string') return t.skip(postgres)
    await using _postgres = postgres
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const { data: source, library, token, snapshot } = await createEarlierSnapshot(target)
    await rm(source, { recursive: true })
    const data = path.join(folder.path, 'restored')
    const url = await postgres.createDatabase()
    const command = ['restore', target, '--json', '--data', data, '--database', url]
    {
      await using injector = await FaultInjector.create(data)
      // The secret is written once the database is migrated.
      using injected = injector.inject({ operations: ['create'], path: 'secret*', effect: 'kill' })
      const killed = await carrel(command, { env: injector.env })
      assert.deepEqual([killed.code, injected.hits], [null, 1], killed.stderr)
    }
    assert.ok(existsSync(path.join(data, 'restore-unfinished')))

    // The folder belongs to a restore into this database only.
    const other = await postgres.createDatabase()
    await (await openDatabase({ kind: 'postgres', url: other }, { onFatal: assert.fail }))[
      Symbol.asyncDispose
    ]()
    const refused = await carrel(['restore', target, '--data', data, '--database', other])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /already holds data of Carrel.* name its database exactly as before/)

    const finished = await carrel(command)
    assert.equal(finished.code, 0, finished.stderr)
    const report = JSON.parse(finished.stdout) as { snapshot: string; rows: number; missing: string[] }
    assert.equal(report.snapshot, snapshot)
    assert.ok(report.rows > 10)
    assert.deepEqual(report.missing, [])
    const checked = await carrel(['check', '--read-data', '--data', data, '--database', url])
    assert.equal(checked.code, 0, checked.stdout)
    await using server = await startServer({ data, env: { CARREL_DATABASE: url, CARREL_SECRET: SECRET } })
    const ann = new Client(server.url, token)
    assert.deepEqual(await namesIn(ann, library), ['docs/', 'note.txt'])
    assert.ok((await download(ann, library, '/note.txt')).length > 0)
    await uploadFile(ann, library, '/after.txt', 'the restored server can be written to')
  })

  it('is a source of single files for a server of the current schema', async () => {
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const { data, library, token } = await createEarlierSnapshot(target)
    try {
      await using server = await startServer({ data, env: { CARREL_SECRET: SECRET } })
      const ann = new Client(server.url, token)
      const note = await download(ann, library, '/note.txt')
      const photo = await download(ann, library, '/docs/photo.bin')
      for (const [kind, p] of [
        ['file', '/note.txt'],
        ['dir', '/docs'],
      ] as const) {
        const { status, text } = await ann.delete(`/api2/repos/${library}/${kind}/`, { query: { p } })
        assert.equal(status, 200, text)
      }
      for (const item of ['/note.txt', '/docs']) {
        const args = ['restore', target, '--library', library, '--path', item, '--data', data]
        const restored = await carrel(args, { env: { CARREL_SECRET: SECRET } })
        assert.equal(restored.code, 0, restored.stderr)
      }
      assert.deepEqual(await download(ann, library, '/note.txt'), note)
      assert.deepEqual(await download(ann, library, '/docs/photo.bin'), photo)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})
