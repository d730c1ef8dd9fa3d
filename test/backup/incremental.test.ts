import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { it } from 'node:test'
import { futureCommits } from '../../src/libraries/commits/index.ts'
import { blockRows } from '../../src/libraries/content/index.ts'
import {
  type BackupRepository,
  createSnapshot,
  openRepository,
  Snapshot,
  TargetLock,
  verifyBackup,
} from '../../src/maintenance/backup/index.ts'
import { packName } from '../../src/maintenance/backup/repository.ts'
import { isSectioned } from '../../src/maintenance/backup/tables.ts'
import { GarbageReferences } from '../../src/maintenance/gc/index.ts'
import { type DatabaseSnapshot, openSnapshot, type Value } from '../../src/platform/database/index.ts'
import type { DatabaseSetting } from '../../src/platform/database/open.ts'
import { findUnsettled } from '../../src/programs/assembly/backups.ts'
import { openBlocksOf } from '../support/check.ts'
import type { Client } from '../support/client.ts'
import { onBothDatabases } from '../support/databases.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { makeTree, SyncClient } from '../support/sync-client.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { temporaryFolder } from './support.ts'

const FILES = 120
const LIBRARIES = 3
/** Of libraries, accounts, shares and so on, but for the feed, and the statements of a backup without any content. */
const FEW_ROWS = 100
const FEW_STATEMENTS = 60

/** What a backup reads from the database. */
class Reads {
  /** By table; those of queries count as `queries`. */
  readonly rows = new Map<string, number>()
  statements = 0

  get content(): number {
    return [...this.rows].reduce((total, [name, count]) => total + (isSectioned({ name }) ? count : 0), 0)
  }

  get others(): number {
    const others = [...this.rows].filter(([name]) => name !== 'activity' && !isSectioned({ name }))
    return others.reduce((total, [, count]) => total + count, 0)
  }

  of(snapshot: DatabaseSnapshot): DatabaseSnapshot {
    const count = (table: string, rows: number) => {
      this.statements += 1
      this.rows.set(table, (this.rows.get(table) ?? 0) + rows)
    }
    const rows = snapshot.rows.bind(snapshot)
    const all = snapshot.all.bind(snapshot)
    const get = snapshot.get.bind(snapshot)
    return Object.assign(snapshot, {
      async *rows(...args: Parameters<typeof rows>) {
        for await (const page of rows(...args)) {
          count(args[0].name, page.length)
          yield page
        }
      },
      async all(...args: Parameters<typeof all>) {
        const found = await all(...args)
        count('queries', found.length)
        return found
      },
      async get(...args: Parameters<typeof get>) {
        count('queries', 1)
        return get(...args)
      },
    })
  }
}

async function backUp(server: TestServer, folder: string) {
  const { db, now } = server.running.services
  const url = server.databaseUrl
  const setting: DatabaseSetting =
    url === undefined
      ? { kind: 'sqlite', file: path.join(server.data, 'carrel.db') }
      : { kind: 'postgres', url }
  await using blocks = await openBlocksOf(server)
  const repository = await openRepository(folder, { passphraseFile: undefined }, { create: true })
  await using lock = await TargetLock.acquire(repository.target, 'write', 'carrel backup')
  const reads = new Reads()
  const manifest = await createSnapshot(
    repository,
    {
      openSnapshot: async () => reads.of(await openSnapshot(setting)),
      findGarbage: (snapshot) => GarbageReferences.find(snapshot, now()),
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
  assert.deepEqual([manifest.damaged, manifest.gaps], [[], []])
  return { repository, manifest, reads }
}

type Made = Awaited<ReturnType<typeof backUp>>

/** The content of all libraries in a snapshot, in one order. */
async function contentOf({
  repository,
  manifest,
}: { repository: BackupRepository } & Pick<Made, 'manifest'>) {
  const snapshot = new Snapshot(repository, manifest)
  const content: Record<string, string[]> = {}
  for (const { name } of manifest.tables.filter(isSectioned)) {
    const lines: string[] = []
    for await (const rows of snapshot.rows(name)) lines.push(...rows.map(lineOf))
    content[name] = lines.sort()
  }
  return content
}

function lineOf(row: readonly Value[]): string {
  return JSON.stringify(
    row.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value)),
  )
}

async function assertVerified(repository: BackupRepository): Promise<void> {
  assert.deepEqual((await verifyBackup(repository, { readData: true })).problems, [])
}

/** Derived rows are there. */
async function settled(server: TestServer): Promise<void> {
  const { db } = server.running.services
  await eventually(async () => {
    const late = await db.all(
      `select l.key, f.name, f.seq from library l left join follower f on f.library_key = l.key and f.name = 'paths'
       where l.deleted_at is null and (f.seq is null or f.seq < l.head_seq)`,
    )
    assert.deepEqual(late, [])
  })
}

/** Pushes a tree with many files, as one commit. */
async function pushFiles(client: Client, library: string): Promise<SyncClient> {
  const sync = await SyncClient.link(client, library)
  await sync.push(
    Object.fromEntries(Array.from({ length: FILES }, (_, number) => [`${number}.bin`, randomBytes(100)])),
  )
  return sync
}

onBothDatabases('a further backup', (fresh) => {
  const start = async (t: Parameters<typeof fresh>[0], now?: () => number) => {
    const database = await fresh(t)
    if (database === undefined) return undefined
    const env: Record<string, string> = { CARREL_GC_GRACE_SECONDS: '0' }
    if (database.setting?.kind === 'postgres') env['CARREL_DATABASE'] = database.setting.url
    return startServer({ env, ...(now && { now }) })
  }

  it('reads the rows of changed libraries only', { timeout: 120_000 }, async (t) => {
    const server = await start(t)
    if (server === undefined) return
    await using _server = server
    await using folder = await temporaryFolder()
    const client = await server.signUp()
    const libraries = await Promise.all(
      Array.from({ length: LIBRARIES }, (_, number) => client.createLibrary(`Library ${number}`)),
    )
    for (const library of libraries) {
      await pushFiles(client, library)
      // A library with many commits is a section of its own.
      await server.running.services.db.write((tx) =>
        tx.run('update library set file_count = 3000 where id = ?', library),
      )
    }
    await settled(server)
    const first = await backUp(server, folder.path)
    assert.ok(first.reads.content > LIBRARIES * FILES * 2, `${first.reads.content} rows`)

    const same = await backUp(server, folder.path)
    assert.equal(same.reads.content, 0)
    assert.ok(same.reads.others < FEW_ROWS, JSON.stringify([...same.reads.rows]))
    assert.ok(same.reads.statements < FEW_STATEMENTS, `${same.reads.statements} statements`)
    assert.deepEqual(await contentOf(same), await contentOf(first))
    assert.deepEqual(same.manifest.blocks, first.manifest.blocks)
    await assertVerified(same.repository)

    await uploadFile(client, libraries[1] ?? '', '/new.txt', 'new')
    await settled(server)
    const changed = await backUp(server, folder.path)
    const share = first.reads.content / LIBRARIES
    assert.ok(
      changed.reads.content > 0 && changed.reads.content < share * 1.2,
      `${changed.reads.content} rows, and ${share} for each library before`,
    )
    await assertVerified(changed.repository)
  })

  it('has the same rows as a first one, whatever happened before', { timeout: 300_000 }, async (t) => {
    const seed = testSeed()
    t.diagnostic(`seed ${seed}`)
    const random = seededRandom(seed)
    const below = (limit: number) => Math.floor(random() * limit)
    let shift = 0
    const server = await start(t, () => Math.floor(Date.now() / 1000) + shift)
    if (server === undefined) return
    await using _server = server
    await using folder = await temporaryFolder()
    const { db, gc } = server.running.services
    const client = await server.signUp()
    const libraries: string[] = []
    const create = async () => libraries.push(await client.createLibrary(`Library ${libraries.length}`))
    for (let each = 0; each < 3; each++) await create()
    const any = () => libraries[below(libraries.length)] ?? assert.fail()
    const fileOf = () => `/${below(4)}.bin`
    const happenings: Record<string, () => Promise<unknown>> = {
      upload: () => uploadFile(client, any(), fileOf(), randomBytes(below(2) === 0 ? 300 : 90_000)),
      delete: () => client.delete(`/api2/repos/${any()}/file/?p=${fileOf()}`),
      'give up history': () => client.put(`/api2/repos/${any()}/history-limit/`, { form: { keep_days: 0 } }),
      collect: async () => {
        shift += 700
        await gc.runOnce()
      },
      'collect everything': async () => {
        for (let each = 0; each < 6; each++) {
          shift += 700
          await gc.runOnce()
        }
      },
      'send ahead of a push': async () => {
        const sync = await SyncClient.link(client, any())
        const tree = makeTree({ 'sent.bin': randomBytes(500) }, sync.email)
        for (const [id, block] of tree.blocks) await sync.call('PUT', `block/${id}`, block)
      },
      'correct the clock': () => db.write((tx) => futureCommits.repair(tx, 0, 1_700_000_000)),
      create,
      'delete a library': async () => {
        const [gone] = libraries.splice(below(libraries.length), 1)
        await client.delete(`/api/v2.1/repos/${gone}/`)
        if (libraries.length === 0) await create()
      },
    }
    const names = Object.keys(happenings)
    for (let round = 0; round < 14; round++) {
      const done: string[] = []
      for (let each = below(4); each >= 0; each--) {
        const name = names[below(names.length)] ?? assert.fail()
        done.push(name)
        await happenings[name]?.()
      }
      await settled(server)
      const further = await backUp(server, path.join(folder.path, 'target'))
      const anew = await backUp(server, path.join(folder.path, `anew-${round}`))
      assert.deepEqual(await contentOf(further), await contentOf(anew), done.join(', '))
      assert.deepEqual(further.manifest.blocks, anew.manifest.blocks)
    }
    const { repository } = await backUp(server, path.join(folder.path, 'target'))
    await assertVerified(repository)
  })

  it('reads everything again if the target has lost something', { timeout: 120_000 }, async (t) => {
    const server = await start(t)
    if (server === undefined) return
    await using _server = server
    await using folder = await temporaryFolder()
    const client = await server.signUp()
    const library = await client.createLibrary('Papers')
    await uploadFile(client, library, '/a.bin', randomBytes(1_500_000))
    await settled(server)
    const first = await backUp(server, folder.path)
    const pack = [...first.repository.index.packs()].find(({ blobs }) => blobs[0]?.[0] === 'block')
    await rm(path.join(folder.path, packName(pack?.id ?? assert.fail('no pack has the block'))))
    const { repository, reads } = await backUp(server, folder.path)
    assert.ok(reads.content > 0)
    await assertVerified(repository)
  })
})
