import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, storedBytes, uploadFile } from '../support/transfer.ts'
import { type ClientUser, clientUser } from './support.ts'

describe('carrel sync-once', () => {
  let server: TestServer
  let client: Client
  let user: ClientUser
  before(async () => {
    server = await startServer()
    client = await server.signUp()
    user = await clientUser(client)
  })
  after(async () => {
    await user[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  /** A library and a local folder. */
  async function stage(name: string) {
    const library = await client.createLibrary(name)
    const folder = path.join(user.folder, name)
    await mkdir(folder)
    const sync = async (code?: number, ...flags: string[]) =>
      user.json(['sync-once', folder, `${name}:`, ...flags], code)
    const local = (...names: string[]) => path.join(folder, ...names)
    return { library, folder, sync, local }
  }
  const visible = async (folder: string) => (await readdir(folder)).filter((name) => !name.startsWith('.'))

  it('carries new files, changes and deletions in both directions', async () => {
    const { library, folder, sync, local } = await stage('Both')
    await mkdir(local('sub'))
    await writeFile(local('sub/mine'), 'mine')
    await uploadFile(client, library, '/deep/theirs', 'theirs')
    await sync()
    assert.equal(await readFile(local('deep/theirs'), 'utf8'), 'theirs')
    assert.equal((await storedBytes(server, library, '/sub/mine')).toString(), 'mine')
    assert.deepEqual(await sync(), { done: [], failed: [] })

    await writeFile(local('deep/theirs'), 'edited here')
    await uploadFile(client, library, '/sub/mine', 'edited there', { replace: true })
    await sync()
    assert.equal((await storedBytes(server, library, '/deep/theirs')).toString(), 'edited here')
    assert.equal(await readFile(local('sub/mine'), 'utf8'), 'edited there')

    await rm(local('deep/theirs'))
    await client.delete(`/api/v2.1/repos/${library}/file/?p=/sub/mine`)
    await sync()
    assert.deepEqual(await namesIn(client, library, '/deep'), [])
    assert.deepEqual(await visible(folder), ['deep'])
  })

  it('keeps both contents of a conflict, and notices equal ones', async () => {
    const { library, folder, sync, local } = await stage('Conflicts')
    await writeFile(local('same.txt'), 'same')
    await uploadFile(client, library, '/same.txt', 'same')
    await writeFile(local('a.txt'), 'here')
    await uploadFile(client, library, '/a.txt', 'there')
    await sync()
    const names = await visible(folder)
    assert.equal(names.length, 3)
    const kept = names.find((name) => name.startsWith('a (conflict from ')) ?? assert.fail(names.join())
    assert.equal(await readFile(local('a.txt'), 'utf8'), 'there')
    assert.equal(await readFile(local(kept), 'utf8'), 'here')
    assert.equal((await storedBytes(server, library, `/${kept}`)).toString(), 'here')
    assert.deepEqual(await sync(), { done: [], failed: [] })
  })

  it('refuses to delete most files until it is told to', async () => {
    const { library, folder, sync, local } = await stage('Unmounted')
    for (let at = 0; at < 12; at += 1) await writeFile(local(`${at}`), 'x')
    await sync()
    for (const name of await visible(folder)) await rm(local(name))
    assert.match((await sync(7)).error, /--allow-deletes/)
    assert.equal((await namesIn(client, library)).length, 12)
    assert.equal((await sync(0, '--dry-run')).length, 12)
    await sync(0, '--allow-deletes')
    assert.deepEqual(await namesIn(client, library), [])
  })

  it('says in a dry run what it cannot sync', async () => {
    const { library, sync, local } = await stage('Names')
    await writeFile(local('good'), 'good')
    await writeFile(local('back\\slash'), 'refused')
    assert.deepEqual(await sync(9, '--dry-run'), [{ kind: 'upload', path: 'good' }])
    const { done, failed } = await sync(9)
    assert.deepEqual(done, [{ action: 'uploaded', path: 'good' }])
    assert.deepEqual(
      failed.map((one: { item: string }) => one.item),
      ['back\\slash'],
    )
    assert.deepEqual(await namesIn(client, library), ['good'])
  })

  it('refuses a folder that is synced with another place', async () => {
    const { folder, sync } = await stage('Place')
    await sync()
    await client.createLibrary('Elsewhere')
    await user.run(['sync-once', folder, 'Elsewhere:'], 7)
  })
})
