import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { it } from 'node:test'
import { Client as PostgresClient } from 'pg'
import { findManifest, writeManifest } from '../../src/maintenance/backup/manifest.ts'
import { openRepository } from '../../src/maintenance/backup/open-target.ts'
import { knownSchemaVersion } from '../../src/platform/database/inspect.ts'
import { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { type FreshDatabase, onBothDatabases } from '../support/databases.ts'
import { download } from '../support/encrypted.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { flagsOf, temporaryFolder } from './support.ts'

onBothDatabases('a backup of the whole server', (fresh: FreshDatabase) => {
  it('contains every write acknowledged before it began, made while others write', async (t) => {
    const database = await fresh(t)
    const restored = await fresh(t)
    if (database === undefined || restored === undefined) return
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const acknowledged = new Map<string, Buffer>()
    let link: string
    let library: string
    let secret: string
    {
      await using server = await startServer(envOf(database))
      const ann = await server.signUp({ email: 'ann@example.org', password: 'a long password' })
      library = await ann.createLibrary('Papers')
      link = await passwordLink(ann, library)
      const writers = startWriters(ann, library, acknowledged)
      await writers.until(20)
      const before = new Map(acknowledged)
      const made = await carrel(['backup', target, '--json', ...flagsOf(server)])
      await writers.stop()
      assert.equal(made.code, 0, made.stderr)
      assert.ok(acknowledged.size > before.size, 'nobody wrote meanwhile')
      // The second one stores only what is new.
      const second = await carrel(['backup', target, '--json', ...flagsOf(server)])
      assert.equal(second.code, 0, second.stderr)
      const [first, again] = [made, second].map(({ stdout }) => JSON.parse(stdout) as { addedBytes: number })
      const third = JSON.parse((await carrel(['backup', target, '--json', ...flagsOf(server)])).stdout) as {
        addedBytes: number
      }
      assert.ok((first?.addedBytes ?? 0) > 200_000 && (again?.addedBytes ?? 0) > 0)
      assert.ok(third.addedBytes < 20_000, `${third.addedBytes} bytes for an unchanged server`)
      secret = await readFile(path.join(server.data, 'secret'), 'utf8')
    }
    const verified = await carrel(['backup', 'verify', target, '--read-data'])
    assert.equal(verified.code, 0, verified.stdout)

    const data = path.join(folder.path, 'restored')
    if (restored.setting?.kind === 'postgres') await dropSchema(restored.setting.url)
    const flags = [
      '--data',
      data,
      ...(restored.setting?.kind === 'postgres' ? ['--database', restored.setting.url] : []),
    ]
    const done = await carrel(['restore', target, ...flags])
    assert.equal(done.code, 0, done.stderr)
    assert.equal(await readFile(path.join(data, 'secret'), 'utf8'), secret)
    await using server = await startServer({ ...envOf(restored), data })
    const ann = await Client.signIn(server.url, 'ann@example.org', 'a long password')
    for (const [name, bytes] of acknowledged) {
      assert.deepEqual(await download(ann, library, name), bytes, name)
    }
    const opened = await server.anonymous.post(`/api/v2.1/share-links/${link}/check-password/`, {
      form: { password: 'link password' },
    })
    assert.notEqual(opened.status, 403, 'the secret that link passwords depend on is part of the backup')
    await uploadFile(ann, library, '/after.txt', Buffer.from('the restored server can be written to'))
  })
})

it('a restore refuses a data folder that holds anything, and changes nothing', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  await using server = await startServer()
  assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
  const data = path.join(folder.path, 'data')
  await mkdir(data)
  await writeFile(path.join(data, 'keep.txt'), 'mine')
  const refused = await carrel(['restore', target, '--data', data])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /is not empty \(keep\.txt\)/)
  assert.deepEqual(await readdir(data), ['keep.txt'])
})

it('a restore refuses a snapshot of a newer schema, and changes nothing', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  await using server = await startServer()
  const ann = await server.signUp()
  const library = await ann.createLibrary('Papers')
  await uploadFile(ann, library, '/a.txt', 'a')
  assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
  const repository = await openRepository(target, { passphraseFile: undefined })
  const made = await findManifest(repository, 'latest')
  const newer = { ...made, id: `${made.id}-newer`, schemaVersion: knownSchemaVersion + 1, version: '99.0.0' }
  await writeManifest(repository, newer)
  const data = path.join(folder.path, 'data')
  const restore = (...args: string[]) => carrel(['restore', target, '--snapshot', newer.id, ...args])
  const whole = await restore('--data', data)
  assert.equal(whole.code, 1)
  assert.match(whole.stderr, /knows only up to \d+: restore it with the version that made it, 99\.0\.0/)
  assert.equal(existsSync(data), false)
  for (const part of [
    ['--library', library],
    ['--library', library, '--path', '/a.txt'],
  ]) {
    const refused = await restore(...flagsOf(server), ...part)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /was made by version 99\.0\.0/)
  }
  const { body } = await ann.get('/api2/repos/')
  assert.deepEqual(
    body.map(({ name }: { name: string }) => name),
    ['Papers'],
  )
})

it('verify finds a missing, a cut and a changed pack', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  await using server = await startServer()
  const ann = await server.signUp()
  const library = await ann.createLibrary('Papers')
  await uploadFile(ann, library, '/big.bin', randomBytes(1_500_000))
  await uploadFile(ann, library, '/small.txt', Buffer.from('small'))
  assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
  const packs = (await readdir(path.join(target, 'packs'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  assert.equal(packs.length, 2)
  for (const pack of packs) {
    const sound = await readFile(pack)
    const changed = Buffer.from(sound)
    const at = sound.length >> 1
    changed[at] = (changed[at] ?? 0) ^ 1
    await writeFile(pack, changed)
    const read = await carrel(['backup', 'verify', target, '--read-data'])
    assert.equal(read.code, 1)
    assert.match(read.stdout, /is damaged/)
    await writeFile(pack, sound.subarray(0, -1))
    const cut = await carrel(['backup', 'verify', target])
    assert.equal(cut.code, 1)
    await rm(pack)
    const missing = await carrel(['backup', 'verify', target])
    assert.equal(missing.code, 1)
    assert.match(missing.stdout, /is missing/)
    // The server still has everything, so the next backup repairs the target.
    assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
    await writeFile(pack, sound)
    assert.equal((await carrel(['backup', 'verify', target, '--read-data'])).code, 0)
  }
})

/** Uploads small and large files through several connections until stopped. */
function startWriters(client: Client, library: string, acknowledged: Map<string, Buffer>) {
  let isStopped = false
  let number = 0
  const stored = new EventEmitter()
  const write = async () => {
    // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- stop() sets it meanwhile
    while (!isStopped) {
      const name = `/file-${++number}.bin`
      const bytes = randomBytes(number % 5 === 0 ? 200_000 : 2000)
      await uploadFile(client, library, name, bytes)
      acknowledged.set(name, bytes)
      stored.emit('file')
    }
  }
  const writing = Promise.all([write(), write(), write()])
  return {
    async until(count: number) {
      while (acknowledged.size < count) await once(stored, 'file')
    },
    async stop() {
      isStopped = true
      await writing
    },
  }
}

async function passwordLink(client: Client, library: string): Promise<string> {
  const made = await client.post('/api/v2.1/share-links/', {
    form: { repo_id: library, path: '/', password: 'link password' },
  })
  assert.equal(made.status, 200, made.text)
  return made.body.token
}

/** As in a database that Carrel has never used. */
async function dropSchema(url: string): Promise<void> {
  const client = new PostgresClient({ connectionString: url })
  await client.connect()
  await client.query('drop schema public cascade; create schema public')
  await client.end()
}

function envOf({ setting }: { setting: { kind: string; url?: string } | undefined }) {
  return setting?.kind === 'postgres' ? { env: { CARREL_DATABASE: setting.url ?? '' } } : {}
}
