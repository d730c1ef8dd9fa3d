import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSnapshot, openRepository, Snapshot } from '../../src/backup/index.ts'
import { BlockCheck } from '../../src/content/block-check.ts'
import { findBlocksHeldAnywhere } from '../../src/content/index.ts'
import { openSnapshot } from '../../src/database/index.ts'
import type { DatabaseSetting } from '../../src/database/open.ts'
import { ROOT } from '../../src/objects/paths.ts'
import { type RepairSource, repair } from '../../src/repair/index.ts'
import { Quarantine } from '../../src/storage/disk/index.ts'
import { checkServer, openBlocksOf } from '../support/check.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { headOf, namesIn, storedBytes } from '../support/transfer.ts'
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
  const manifest = await createSnapshot(repository, {
    openSnapshot: () => openSnapshot(setting),
    blocks,
    heldNow: (ids) => findBlocksHeldAnywhere(db, ids),
    secret: null,
    settings: null,
    host: 'test',
    version: '0',
  })
  const snapshot = new Snapshot(repository, manifest)
  return {
    name: 'the backup',
    hasBlock: (id) => snapshot.hasBlock(id),
    readBlock: (id) => snapshot.readBlock(id),
    records: (table) => snapshot.records(table),
  }
}

async function repairServer(sample: Sample, sources: readonly RepairSource[], isDryRun = false) {
  const { db, core, search, access, accounts, now, usage } = server.running.services
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
      quarantine: (name, bytes) => quarantine.keep(name, bytes),
      quarantineFile: (id) => quarantine.keepFile(id),
      openAsOwner: async ({ id }) => (await access.open(await accounts.get(client.email), id)).editable(ROOT),
      rebuildSearch: (library) => search.reindexing.rebuildLibrary(library),
      isDryRun,
    },
    findings,
  )
  if (!isDryRun) await usage.refresh()
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
    const [block] = (await core.objects.getFile(key, id as never)).blockIds
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
