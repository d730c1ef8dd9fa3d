import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, it } from 'node:test'
import { findProgram } from '../../bin/system-programs.ts'
import { shareWith, unshare } from '../api/sharing-support.ts'
import type { Client } from '../support/client.ts'
import { SeafClient, treeOf, until } from '../support/seaf-client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'

const program = findProgram('seaf-cli')
const password = 'a long password'

let server: TestServer
let folder: string
let ann: Client
let ben: Client
let cid: Client
const clients: SeafClient[] = []
before(async () => {
  server = await startServer()
  folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-seaf-'))
  ann = await server.signUp({ email: 'ann@example.org' })
  ben = await server.signUp({ email: 'ben@example.org', password })
  cid = await server.signUp({ email: 'cid@example.org', password })
  if (program === undefined) return
  for (const { email } of [ben, cid]) {
    const account = { url: server.url, email, password }
    clients.push(await SeafClient.start(program, path.join(folder, email), account))
  }
})
after(async () => {
  for (const client of clients) await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

it('a shared library syncs by what its sharing allows, until that ends', async (t) => {
  const [reading, writing] = clients
  if (reading === undefined || writing === undefined) return t.skip('seaf-cli is not installed')
  const library = await ann.createLibrary('Team')
  await uploadFile(ann, library, '/plan.txt', 'by ann')
  await shareWith(ann, library, ben, { permission: 'r' })
  await shareWith(ann, library, cid, { permission: 'rw' })
  const [left, right] = [path.join(reading.folder, 'Team'), path.join(writing.folder, 'Team')]
  await reading.clone(library, reading.folder)
  await writing.clone(library, writing.folder)
  const arrives = (file: string, text: string) =>
    until(`${file} arrives`, clients, async () => assert.equal(await readFile(file, 'utf8'), text))
  await arrives(path.join(left, 'plan.txt'), 'by ann')
  await arrives(path.join(right, 'plan.txt'), 'by ann')
  const sync = await SyncClient.link(ann, library)
  const onServer = async () =>
    Object.fromEntries([...(await sync.clone())].map(([name, bytes]) => [name, String(bytes)]))

  await t.test('who may write pushes under their own name; what a reader does stays local', async () => {
    await writeFile(path.join(left, 'by ben.txt'), 'by ben')
    await writeFile(path.join(right, 'by cid.txt'), 'by cid')
    await arrives(path.join(left, 'by cid.txt'), 'by cid')
    assert.equal((await sync.commit(await sync.head())).creator_name, cid.email)
    const { body } = await ann.get(`/api/v2.1/repos/${library}/dir/`, { p: '/' })
    const file = body.dirent_list.find(({ name }: { name: string }) => name === 'by cid.txt')
    assert.equal(file.modifier_email, cid.email)
    assert.deepEqual(await onServer(), { '/plan.txt': 'by ann', '/by cid.txt': 'by cid' })
    const link = await SyncClient.link(ben, library)
    const check = await link.call('GET', 'permission-check/?op=upload&client_id=&client_name=')
    assert.deepEqual([check.status, check.body], [403, { reason: 'no write permission' }])
  })

  await t.test('who may no longer write is told so, and pushes nothing', async () => {
    const change = await ann.post(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/', share_type: 'user', username: cid.email },
      form: { permission: 'r' },
    })
    assert.equal(change.status, 200, change.text)
    const head = await sync.head()
    await writeFile(path.join(right, 'too late.txt'), 'too late')
    await until('the client is told', clients, async () =>
      assert.match(await writing.run('status'), /Team\s+error\s+.*write permission/i),
    )
    assert.equal(await sync.head(), head)
  })

  await t.test('a share that ended ends syncing, and files stay', async () => {
    await unshare(ann, library, ben)
    await uploadFile(ann, library, '/secret.txt', 'not for ben any more')
    await until('the client is told', clients, async () =>
      assert.match(await reading.run('status'), /Permission denied on server/i),
    )
    assert.deepEqual(Object.keys(await treeOf(left)), ['by ben.txt', 'by cid.txt', 'plan.txt'])
  })
})
