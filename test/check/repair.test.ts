import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ROOT } from '../../src/base/paths/paths.ts'
import { repairAnnotations } from '../../src/derived/annotations/annotation-faults-store.ts'
import { deleteArchive } from '../../src/libraries/archives/archive-store.ts'
import { BlockCheck } from '../../src/libraries/content/block-check.ts'
import { blockRows } from '../../src/libraries/content/index.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { createLibrary } from '../../src/libraries/library/index.ts'
import { libraryRows } from '../../src/libraries/registry/index.ts'
import {
  type BackupSource,
  createSnapshot,
  openRepository,
  Snapshot,
  TargetLock,
} from '../../src/maintenance/backup/index.ts'
import { GarbageReferences } from '../../src/maintenance/gc/index.ts'
import { type RepairSource, repair } from '../../src/maintenance/repair/index.ts'
import { openSnapshot } from '../../src/platform/database/index.ts'
import type { DatabaseSetting } from '../../src/platform/database/open.ts'
import { Quarantine } from '../../src/platform/storage/disk/index.ts'
import { partialUploads } from '../../src/sharing/quotas/partial-upload-store.ts'
import { checkServer, openBlocksOf } from '../support/check.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, headOf, namesIn, storedBytes, uploadFile } from '../support/transfer.ts'
import { createSample, DAMAGES, type Sample } from './damage.ts'

let server: TestServer
let client: Client
let target: string
before(async () => {
  server = await startServer()
  client = await server.signUp()
  target = await mkdtemp(path.join(os.tmpdir(), 'carrel-repair-'))
})
after(async () => {
  await server[Symbol.asyncDispose]()
  await rm(target, { recursive: true, force: true })
})

/** A real backup of the server as it is. */
async function backUp(): Promise<RepairSource> {
  const { db } = server.running.services
  const url = server.databaseUrl
  const setting: DatabaseSetting =
    url === undefined
      ? { kind: 'sqlite', file: path.join(server.data, 'carrel.db') }
      : { kind: 'postgres', url }
  await using blocks = await openBlocksOf(server)
  const folder = await mkdtemp(path.join(target, 'backup-'))
  const repository = await openRepository(folder, { passphraseFile: undefined }, { create: true })
  await using lock = await TargetLock.acquire(repository.target, 'write', 'carrel backup')
  const source: BackupSource = {
    openSnapshot: () => openSnapshot(setting),
    findGarbage: (snapshot) => GarbageReferences.find(snapshot, 0),
    findUnsettled: async () => new Set<number>(),
    blocks,
    areBlocksKept: async () => true,
    heldNow: (ids) => blockRows.findHeldAnywhere(db, ids),
    secret: null,
    settings: null,
    host: 'test',
    version: '0',
  }
  const manifest = await createSnapshot(repository, source, { lock })
  const snapshot = new Snapshot(repository, manifest)
  return {
    name: 'the backup',
    hasBlock: (id) => snapshot.hasBlock(id),
    readBlock: (id) => snapshot.readBlock(id),
    records: (table) => snapshot.records(table),
  }
}

/** Deletes the row of an object. Disposing puts it back, because usage is counted for all libraries. */
async function loseObject({ key }: Sample, id: Uint8Array): Promise<AsyncDisposable> {
  const { db } = server.running.services
  const one = 'from fs_object where library_key = ? and id = ?'
  const [row = assert.fail('no object')] = await db.all(`select * ${one}`, key, id)
  await db.write((tx) => tx.run(`delete ${one}`, key, id))
  return {
    [Symbol.asyncDispose]: () =>
      db.write((tx) => tx.insert('fs_object', Object.keys(row), [Object.values(row)])),
  }
}

async function indexed(): Promise<void> {
  const { search } = server.running.services
  await eventually(async () => {
    await search.reindexing.look()
    assert.equal((await search.reindexing.lag()).commits, 0)
  })
}

async function repairServer(sample: Sample, sources: readonly RepairSource[], isDryRun = false) {
  const { db, core, search, photos, access, accounts, now, usage } = server.running.services
  await using blocks = await openBlocksOf(server)
  const quarantine = new Quarantine(path.join(server.data, 'quarantine'), path.join(server.data, 'blocks'))
  const { findings } = await checkServer(server, { library: sample.library })
  const steps = await repair(
    {
      db,
      core,
      blocks,
      blockCheck: new BlockCheck(db, blocks, now),
      sources,
      findVersion: async () => undefined,
      quarantine: (name, bytes) => quarantine.keep(name, bytes),
      quarantineFile: (id) => quarantine.keepFile(id),
      openAsOwner: async ({ id }) => (await access.open(await accounts.get(client.email), id)).editable(ROOT),
      ownerHasLibrary: async ({ ownerKey }, name) =>
        (await libraryRows.listNamesOf(db, ownerKey)).some((one) => one.name === name),
      createForOwner: async (_, name) => {
        const owner = await accounts.get(client.email)
        const { id } = await createLibrary(
          core,
          owner,
          { name, description: '', encryption: undefined },
          undefined,
        )
        return (await access.open(owner, id)).editable(ROOT)
      },
      indexedEntries: (library, folder) => search.reindexing.indexedEntries(library, folder),
      rebuildSearch: (library) => search.reindexing.rebuildLibrary(library),
      rebuildPhotos: (library) => photos.rebuildLibrary(library),
      repairAnnotations,
      dropUpload: (key) => db.write((tx) => partialUploads.drop(tx, key)),
      dropArchive: async (key) => void (await db.write((tx) => deleteArchive(tx, key))),
      isDryRun,
    },
    findings,
  )
  // Fails while something is lost.
  if (!isDryRun) await usage.refresh().catch(() => {})
  return { steps, left: (await checkServer(server, { library: sample.library })).findings }
}

describe('a repair', () => {
  for (const { name, damage } of DAMAGES) {
    it(`brings back ${name} from a backup, and changes nothing else`, async () => {
      const sample = await createSample(server, client)
      const backup = await backUp()
      const { library, small, large } = sample
      const head = await headOf(client, library)
      await damage(sample)
      const dry = await repairServer(sample, [backup], true)
      assert.ok(dry.steps.length > 0)
      assert.ok(dry.left.length > 0, 'a dry run changes nothing')
      const { left } = await repairServer(sample, [backup])
      assert.deepEqual(left, [])
      assert.equal(await headOf(client, library), head)
      assert.ok((await storedBytes(server, library, '/docs/small.bin')).equals(small))
      assert.ok((await storedBytes(server, library, '/docs/deep/large.bin')).equals(large))
      assert.equal((await client.get(`/api/v2.1/repos/${library}/trash/`)).body.data.length, 1)
    })
  }

  it('without a copy adds an older revision next to the damaged file, and names what is lost', async () => {
    const sample = await createSample(server, client)
    const { library, key } = sample
    const old = await client.get(`/api/v2.1/repos/${library}/file/new_history/`, { path: '/notes.txt' })
    assert.equal(old.body.data.length, 2)
    const { db, core } = server.running.services
    const id = (await sample.idOf('/notes.txt')).toString('hex')
    const [block] = (await storesOf(core).objects.getFile(key, id as never)).blockIds
    await db.write((tx) => tx.run('delete from small_block where id = ?', Buffer.from(block ?? '', 'hex')))
    const first = await repairServer(sample, [])
    assert.deepEqual(
      first.steps.map(({ action, path }) => [action, path]),
      [['revision-recovered', '/notes.txt']],
    )
    assert.deepEqual(
      first.left.map(({ kind, path, current }) => [kind, path, current]),
      [['block-missing', '/notes.txt', true]],
    )
    const names = await namesIn(client, library)
    const recovered = names.find((one) => /^notes \(recovered from \d{4}-\d\d-\d\d\)\.txt$/.test(one))
    assert.ok(recovered !== undefined && names.includes('notes.txt'), names.join())
    assert.equal((await storedBytes(server, library, `/${recovered}`)).length, 20)
    // Again: nothing is added twice.
    await repairServer(sample, [])
    assert.deepEqual(await namesIn(client, library), names)
  })

  it('without a backup rebuilds a lost folder from the search index, if the result has its id', async () => {
    const sample = await createSample(server, client)
    const { library, key, run, large } = sample
    await uploadFile(client, library, '/docs/deep/two.txt', 'second')
    await indexed()
    const id = await sample.idOf('/docs/deep')
    await run('delete from fs_object where library_key = ? and id = ?', key, id)
    const { steps, left } = await repairServer(sample, [])
    assert.deepEqual(
      steps.map(({ action, path, detail }) => [action, path, detail]),
      [['object-restored', '/docs/deep', 'the search index']],
    )
    assert.deepEqual(left, [])
    assert.ok((await storedBytes(server, library, '/docs/deep/large.bin')).equals(large))
  })

  it('without any copy adds the newest older version of a lost folder next to it', async () => {
    const sample = await createSample(server, client)
    const { library, key, runInSearch, large } = sample
    await uploadFile(client, library, '/docs/deep/two.txt', 'second')
    await indexed()
    await runInSearch("update search_entry set mtime = 1 where name = 'two.txt' and key / 536870912 = ?", key)
    await using _ = await loseObject(sample, await sample.idOf('/docs/deep'))
    const first = await repairServer(sample, [])
    assert.deepEqual(
      first.steps.map(({ action, path }) => [action, path]),
      [['folder-recovered', '/docs/deep']],
    )
    assert.deepEqual(
      first.left.map(({ kind, path }) => [kind, path]),
      [['object-missing', '/docs/deep']],
    )
    const names = await namesIn(client, library, '/docs')
    const recovered = names.find((one) => /^deep \(recovered from \d{4}-\d\d-\d\d\)\/$/.test(one))
    assert.ok(recovered !== undefined && names.includes('deep/'), names.join())
    assert.ok((await storedBytes(server, library, `/docs/${recovered}large.bin`)).equals(large))
    // Again: nothing is added twice.
    await repairServer(sample, [])
    assert.deepEqual(await namesIn(client, library, '/docs'), names)
  })

  it('without any copy of the root makes an older tree a library of its own', async () => {
    const sample = await createSample(server, client)
    const { key, runInSearch, small } = sample
    await runInSearch(
      "update search_entry set mtime = 1 where name = 'notes.txt' and key / 536870912 = ?",
      key,
    )
    await using _ = await loseObject(sample, await sample.idOf('/'))
    const { steps } = await repairServer(sample, [])
    assert.deepEqual(
      steps.map(({ action, path }) => [action, path]),
      [['folder-recovered', '/']],
    )
    const all = (await client.get('/api2/repos/')).body as { id: string; name: string }[]
    const recovered = all.filter(({ name }) => name.startsWith('Plans (recovered from '))
    assert.equal(recovered.length, 1)
    assert.ok((await storedBytes(server, recovered[0]?.id ?? '', '/docs/small.bin')).equals(small))
    await repairServer(sample, [])
    assert.equal(((await client.get('/api2/repos/')).body as unknown[]).length, all.length)
  })

  it('restores a lost head commit from the row of its library, and any commit from a backup', async () => {
    const sample = await createSample(server, client)
    const { library, key, run } = sample
    const head = await headOf(client, library)
    const backup = await backUp()
    const remove = (seq: string) =>
      run(
        `delete from commit_object where library_key = ? and seq = (select ${seq} from library where key = ?)`,
        key,
        key,
      )
    await remove('head_seq')
    const own = await repairServer(sample, [])
    assert.deepEqual(
      own.steps.map(({ action, detail }) => [action, detail]),
      [['commit-restored', 'the row of the library, without its description']],
    )
    assert.deepEqual(own.left, [])
    assert.equal(await headOf(client, library), head)
    await remove('head_seq - 2')
    await remove('head_seq - 3')
    const none = await repairServer(sample, [])
    assert.deepEqual(
      [none.steps, none.left.map(({ kind }) => kind)],
      [[], ['commit-missing', 'commit-missing']],
    )
    const { steps, left } = await repairServer(sample, [backup])
    assert.deepEqual(
      steps.map(({ action, detail }) => [action, detail]),
      Array.from({ length: 2 }, () => ['commit-restored', 'the backup']),
    )
    assert.deepEqual(left, [])
  })

  it('keeps damaged bytes in the quarantine folder', async () => {
    const sample = await createSample(server, client)
    const backup = await backUp()
    const damaged = DAMAGES.find(({ name }) => name === 'a flipped bit in a block file')
    await damaged?.damage(sample)
    await repairServer(sample, [backup])
    const { id } = await sample.blockOf(sample.large)
    assert.ok((await readdir(path.join(server.data, 'quarantine'))).includes(id.toString('hex')))
  })
})
