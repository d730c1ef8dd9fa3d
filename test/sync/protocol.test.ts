import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { Dir } from '../../src/base/objects/dir.ts'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { EMPTY_ID, type FileId } from '../../src/base/objects/ids.ts'
import type { Client } from '../support/client.ts'
import { makeReadOnly } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { MTIME, makeTree, SyncClient, sha1, type TreeSpec } from '../support/sync-client.ts'
import { headOf, namesIn, storedBytes, uploadFile } from '../support/transfer.ts'

let server: TestServer
let ann: Client
before(async () => {
  server = await startServer()
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

async function linked(): Promise<SyncClient> {
  return SyncClient.link(ann, await ann.createLibrary('Notes'))
}

describe('the sync protocol', () => {
  it('returns its version without authentication', async () => {
    const reply = await server.anonymous.get('/seafhttp/protocol-version')
    assert.deepEqual([reply.status, reply.body], [200, { version: 2 }])
  })

  it('transfers a tree from one client to another, byte for byte', async () => {
    const sync = await linked()
    const big = Buffer.alloc(2_500_000, 'carrel')
    const spec = {
      'hello.txt': 'hello world\n',
      'empty.txt': '',
      'no files here': {},
      'größe 😀': { 'a\\b': 'odd names', 'ctl\u0001': 'stay as sent', deep: { er: { 'big.bin': big } } },
    }
    const id = await sync.push(spec)
    assert.equal(await sync.head(), id)
    const other = await SyncClient.link(ann, sync.library)
    const files = await other.clone()
    assert.deepEqual(files.get('/größe 😀/deep/er/big.bin'), big)
    assert.deepEqual(files.get('/hello.txt'), Buffer.from('hello world\n'))
    assert.deepEqual(files.get('/empty.txt'), Buffer.alloc(0))
    assert.equal(files.get('/no files here'), null)
    assert.equal(String(files.get('/größe 😀/ctl\u0001')), 'stay as sent')
    assert.deepEqual(await storedBytes(server, sync.library, '/größe 😀/deep/er/big.bin'), big)
    const detail = (await ann.get(`/api2/repos/${sync.library}/`)).body
    assert.equal(detail.size, big.length + 12 + 9 + 12)
    assert.equal(detail.file_count, 5)
    assert.equal(detail.head_commit_id, id)
  })

  it('serves content created by the web API, and accepts changes on top of it', async () => {
    const sync = await linked()
    await uploadFile(ann, sync.library, '/web/one.txt', 'one')
    const head = await headOf(ann, sync.library)
    assert.equal(await sync.head(), head)
    assert.equal(String((await sync.clone()).get('/web/one.txt')), 'one')
    await sync.push({ web: { 'one.txt': 'one', 'two.txt': 'two' } })
    assert.deepEqual(await namesIn(ann, sync.library, '/web'), ['one.txt', 'two.txt'])
    const changed = await sync.listIds(await sync.head(), head)
    // The root, the folder and the files, whose dirents another client wrote.
    assert.equal(changed.length, 3)
    assert.ok(!changed.includes(EMPTY_ID))
  })

  it('keeps the library’s own name in commits, and the pusher', async () => {
    const sync = await linked()
    const id = await sync.push({ 'a.txt': 'a' }, undefined, {
      repo_name: 'forged',
      creator_name: 'somebody@else.org',
      encrypted: 'true',
      enc_version: 2,
      magic: 'a'.repeat(64),
      key: 'b'.repeat(96),
    })
    const commit = await sync.commit(id)
    assert.equal(commit.repo_name, 'Notes')
    assert.equal(commit.creator_name, ann.email)
    assert.equal(commit.encrypted, undefined)
    assert.equal(commit.device_name, 'unknown')
    assert.equal(commit.client_version, '8.0.10')
    assert.equal(commit.no_local_history, 1)
    assert.equal((await ann.get(`/api2/repos/${sync.library}/`)).body.encrypted, false)
  })

  it('keeps the password of an encrypted library, whatever a client still assumes', async () => {
    const made = await ann.post('/api2/repos/', { form: { name: 'Secret', passwd: 'a password' } })
    const sync = await SyncClient.link(ann, made.body.repo_id)
    const block = Buffer.alloc(32, 'c')
    const file = Buffer.from(`{"block_ids": ["${sha1(block)}"], "size": 20, "type": 1, "version": 1}`)
    const entry = fileDirent({
      id: sha1(file) as FileId,
      name: 'a',
      mtime: MTIME,
      size: 20,
      modifier: ann.email,
    })
    const dir = Dir.of([entry])
    const objects = new Map<string, Buffer>([
      [dir.id, dir.encoded()],
      [sha1(file), file],
    ])
    const stale = { encrypted: 'true', enc_version: 2, magic: '0'.repeat(64), key: '1'.repeat(96) }
    const tree = { root: dir.id, objects, blocks: new Map([[sha1(block), block]]) }
    const commit = await sync.commit(await sync.push(tree, undefined, stale))
    assert.equal(commit.encrypted, 'true')
    assert.equal(commit.magic, made.body.magic)
    assert.equal(commit.key, made.body.random_key)
    assert.equal((await ann.get(`/api2/repos/${sync.library}/download-info/`)).body.magic, made.body.magic)
  })

  it('transfers a folder of 20,000 entries, and one change in it', async () => {
    const sync = await linked()
    const many: Record<string, string> = {}
    for (let n = 0; n < 20_000; n++) many[`file ${n}`] = ''
    const first = await sync.push({ many })
    await sync.push({ many: { ...many, 'file 7': 'changed' } })
    const ids = await sync.listIds(await sync.head(), first)
    assert.equal(ids.length, 3)
    const [, folder] = ids
    const objects = await sync.fetchObjects(ids)
    assert.equal(JSON.parse(String(objects.get(folder ?? ''))).dirents.length, 20_000)
    assert.equal((await ann.get(`/api2/repos/${sync.library}/`)).body.file_count, 20_000)
  })

  it('clamps commit times between the previous head and now, whatever the clock of a client', async () => {
    const sync = await linked()
    const before = (await sync.commit(await sync.head())).ctime
    for (const [name, ctime] of [
      ['future', 4_000_000_000],
      ['past', 1],
    ] as const) {
      const id = await sync.push({ [name]: name }, undefined, { ctime })
      const kept = (await sync.commit(id)).ctime
      assert.ok(kept >= before && kept <= Date.now() / 1000 + 1, `${name}: ${kept}`)
    }
  })

  it('accepts several commits in one push, each with its own number in the history', async () => {
    const sync = await linked()
    const first = await sync.send({ 'a.txt': 'a' }, await sync.head())
    const second = await sync.send({ 'a.txt': 'a', 'b.txt': 'b' }, first)
    const third = await sync.send({ 'b.txt': 'b' }, second)
    assert.equal((await sync.putHead(third)).status, 200)
    assert.equal(await sync.head(), third)
    const history = (await ann.get(`/api/v2.1/repos/${sync.library}/history/`)).body.data
    assert.deepEqual(history.map((commit: { commit_id: string }) => commit.commit_id).slice(0, 3), [
      third,
      second,
      first,
    ])
    const trash = (await ann.get(`/api/v2.1/repos/${sync.library}/trash/`)).body.data
    assert.deepEqual(
      trash.map((item: { obj_name: string }) => item.obj_name),
      ['a.txt'],
    )
  })

  it('accepts a repeated push whose response was lost', async () => {
    const sync = await linked()
    const id = await sync.push({ 'a.txt': 'a' })
    assert.equal((await sync.putHead(id)).status, 200)
    assert.equal(await sync.head(), id)
    await sync.push({ 'a.txt': 'a', 'b.txt': 'b' })
    const head = await sync.head()
    assert.equal((await sync.putHead(id)).status, 200, 'an old head changes nothing')
    assert.equal(await sync.head(), head)
  })

  it('accepts an emptied library, whose root has no object', async () => {
    const sync = await linked()
    await sync.push({ 'a.txt': 'a' })
    assert.deepEqual((await sync.call('POST', 'check-fs/', JSON.stringify([EMPTY_ID]))).body, [])
    const emptied = await sync.push({})
    assert.deepEqual(await sync.listIds(emptied), [])
    assert.deepEqual(await namesIn(ann, sync.library), [])
    const detail = (await ann.get(`/api2/repos/${sync.library}/`)).body
    assert.deepEqual([detail.size, detail.file_count], [0, 0])
  })

  it('keeps the executable bit and the time of a file', async () => {
    const sync = await linked()
    const tree = makeTree({ 'run.sh': '#!/bin/sh' }, ann.email)
    const json = String(tree.objects.get(tree.root)).replace('33188', '33261')
    tree.objects.delete(tree.root)
    tree.objects.set(sha1(json), Buffer.from(json))
    await sync.push({ ...tree, root: sha1(json) as typeof tree.root })
    const objects = await sync.fetchObjects(await sync.listIds(await sync.head()))
    const [entry] = JSON.parse(String(objects.get(sha1(json)))).dirents
    assert.deepEqual([entry.mode, entry.mtime], [33261, MTIME])
  })

  it('returns the blocks and sizes of a file', async () => {
    const sync = await linked()
    const tree = makeTree({ 'a.bin': Buffer.alloc(2_500_000, 7) }, ann.email)
    await sync.push(tree)
    const file = [...tree.objects].find(([, json]) => json.includes('block_ids'))?.[0]
    assert.deepEqual((await sync.call('GET', `block-map/${file}`)).body, [1048576, 1048576, 402848])
    assert.deepEqual((await sync.call('GET', `block-map/${EMPTY_ID}`)).body, [])
    assert.equal((await sync.call('GET', `block-map/${'a'.repeat(40)}`)).status, 404)
  })

  it('returns no heads without a token, but accepts the request', async () => {
    const sync = await linked()
    const ask = (raw: string) =>
      server.anonymous.post('/seafhttp/repo/head-commits-multi/', {
        raw,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      })
    const reply = await ask(JSON.stringify([sync.library]))
    assert.deepEqual([reply.status, reply.body], [200, {}])
    for (const bad of ['', '[]', '{}', '["x"]', '[1]', 'null'])
      assert.equal((await ask(bad)).status, 400, bad)
  })
})

describe('a sync token', () => {
  it('is valid for its own library only, in either header', async () => {
    const [sync, other] = [await linked(), await linked()]
    const calls: [string, string, string?][] = [
      ['GET', 'commit/HEAD'],
      ['GET', 'permission-check/?op=download'],
      ['GET', `commit/${'a'.repeat(40)}`],
      ['PUT', `commit/${'a'.repeat(40)}`, '{}'],
      ['PUT', `commit/HEAD/?head=${'a'.repeat(40)}`, ''],
      ['GET', `fs-id-list/?server-head=${'a'.repeat(40)}`],
      ['POST', 'pack-fs/', '[]'],
      ['POST', 'check-fs/', '[]'],
      ['POST', 'check-blocks/', '[]'],
      ['POST', 'recv-fs/', ''],
      ['GET', `block/${'a'.repeat(40)}`],
      ['PUT', `block/${'a'.repeat(40)}`, 'x'],
      ['GET', `block-map/${EMPTY_ID}`],
      ['GET', 'quota-check/?delta=1'],
      ['GET', 'jwt-token'],
      ['PUT', 'lock-file?p=a', ''],
      ['PUT', 'unlock-file?p=a', ''],
    ]
    for (const [method, path, body] of calls) {
      const statuses = []
      for (const headers of [
        {},
        { 'Seafile-Repo-Token': other.token },
        { 'Seafile-Repo-Token': '0'.repeat(40) },
        { Authorization: `Token ${ann.token}` },
      ]) {
        statuses.push((await sync.call(method, path, body, headers as Record<string, string>)).status)
      }
      assert.deepEqual(statuses, [400, 403, 403, 403], `${method} ${path}`)
    }
    const asNewer = await sync.call('GET', 'commit/HEAD', undefined, { Authorization: `Token ${sync.token}` })
    assert.equal(asNewer.status, 200)
  })

  it('checks the permission in the order clients rely on', async () => {
    const sync = await linked()
    const gone = new SyncClient(server.url, randomUUID(), sync.token, '')
    const client = `client_id=${'c'.repeat(40)}&client_name=my%20pc`
    const ask = (who: SyncClient, query: string) => who.call('GET', `permission-check/?${query}`)
    for (const bad of [
      '',
      'op=',
      'op=both',
      'op=upload&client_id=x',
      'op=upload&client_ver=9',
      'op=upload&client_ver=a.b.c',
    ]) {
      assert.equal((await ask(gone, bad)).status, 400, bad)
    }
    assert.equal((await ask(gone, `op=download&${client}`)).status, 444)
    const fine = await ask(sync, `op=upload&${client}&client_ver=9.0.1`)
    assert.deepEqual([fine.status, fine.text], [200, ''])
    const { accounts, db } = server.running.services
    const device = await db.get<Record<string, string>>(
      'select device_name, client_version, address from sync_token where account_key = ? and device_id = ?',
      (await accounts.get(ann.email)).key,
      'c'.repeat(40),
    )
    assert.deepEqual([device?.['device_name'], device?.['client_version']], ['my pc', '9.0.1'])
    assert.match(device?.['address'] ?? '', /127\.0\.0\.1|::1/)
  })

  it('cannot push to a read-only library', async () => {
    const sync = await linked()
    const head = await sync.push({ 'a.txt': 'a' })
    const commit = sync.makeCommit(EMPTY_ID, head)
    await makeReadOnly(server, sync.library)
    const check = await sync.call('GET', 'permission-check/?op=upload')
    assert.deepEqual([check.status, check.body], [403, { reason: 'no write permission' }])
    assert.equal((await sync.call('GET', 'permission-check/?op=download')).status, 200)
    assert.equal((await sync.putCommit(commit)).status, 403)
    assert.equal((await sync.putHead(head)).status, 403)
    assert.equal((await sync.call('POST', 'recv-fs/', '')).status, 403)
    assert.equal((await sync.call('PUT', `block/${sha1('x')}`, 'x')).status, 403)
    assert.equal((await sync.call('PUT', 'lock-file?p=a.txt', '')).status, 403)
    assert.equal((await sync.clone()).size, 1)
  })

  it('is revoked with its library, which clients see as deleted', async () => {
    const sync = await linked()
    await ann.delete(`/api2/repos/${sync.library}/`)
    assert.equal((await sync.call('GET', 'commit/HEAD')).status, 444)
    assert.equal((await sync.call('GET', 'permission-check/?op=download')).status, 444)
    assert.equal((await sync.putHead('a'.repeat(40))).status, 403)
  })

  it('is revoked with its device, which may be wiped remotely', async () => {
    const device = { platform: 'linux', device_id: 'd'.repeat(40), device_name: 'pc' }
    const bob = await server.signUp({ email: 'bob-device@example.org', password: 'a long password' })
    const signIn = async () =>
      (
        await server.anonymous.post('/api2/auth-token/', {
          form: { username: bob.email, password: 'a long password', ...device },
        })
      ).body.token as string
    for (const wipe of [false, true]) {
      const apiToken = await signIn()
      const sync = await SyncClient.link(bob, await bob.createLibrary())
      const other = await SyncClient.link(bob, sync.library)
      await sync.call('GET', `permission-check/?op=download&client_id=${device.device_id}&client_name=pc`)
      const form = { platform: 'linux', device_id: device.device_id, ...(wipe && { wipe_device: 'true' }) }
      assert.deepEqual((await bob.delete('/api2/devices/', { form })).body, { success: true })
      assert.equal((await sync.call('GET', 'permission-check/?op=download')).status, 403)
      assert.equal((await other.call('GET', 'commit/HEAD')).status, 200)
      const asDevice = { headers: { Authorization: `Token ${apiToken}` } }
      const told = await server.anonymous.call('GET', '/api2/auth/ping/', asDevice)
      assert.equal(told.status, 401)
      assert.equal(told.headers.get('x-seafile-wiped'), wipe ? 'true' : null)
      const confirm = () => server.anonymous.post('/api2/device-wiped/', { form: { token: apiToken } })
      assert.equal((await confirm()).status, wipe ? 200 : 404)
      assert.equal((await confirm()).status, 404)
    }
    assert.equal((await server.anonymous.post('/api2/device-wiped/', { form: { token: 'x' } })).status, 400)
    const again = await signIn()
    assert.equal((await server.anonymous.post('/api2/device-wiped/', { form: { token: again } })).status, 400)
    await server.anonymous.call('POST', '/api2/logout-device/', {
      headers: { Authorization: `Token ${again}` },
    })
  })
})

describe('quotas', () => {
  it('are checked and enforced, and never prevent deletions', async () => {
    const carl = await server.signUp()
    const account = await server.running.services.accounts.get(carl.email)
    const sync = await SyncClient.link(carl, await carl.createLibrary())
    const head = await sync.push({ 'a.txt': 'a'.repeat(900) })
    await server.running.services.db.write((tx) =>
      tx.run('update account set quota = 1000 where key = ?', account.key),
    )
    const ask = async (delta: string) => (await sync.call('GET', `quota-check/?delta=${delta}`)).status
    assert.deepEqual(
      [await ask('99'), await ask('100'), await ask('-5'), await ask('0'), await ask('x'), await ask('')],
      [200, 443, 200, 200, 400, 400],
    )
    const tooMuch = await sync.send({ 'a.txt': 'a'.repeat(900), 'b.txt': 'b'.repeat(100) }, head)
    assert.equal((await sync.putHead(tooMuch)).status, 443)
    assert.equal(await sync.head(), head)
    await sync.push({ 'a.txt': 'a'.repeat(900), 'b.txt': 'b'.repeat(99) })
    await sync.push({ 'renamed.txt': 'a'.repeat(900), 'b.txt': 'b'.repeat(99) })
    await sync.push({})
  })
})

describe('locks', () => {
  it('keep others from pushing changes to locked files, and are listed and changed by clients', async () => {
    const sync = await linked()
    const head = await sync.push({ folder: { 'a.txt': 'a' }, 'b.txt': 'b' })
    assert.equal((await sync.call('PUT', 'lock-file?p=folder/a.txt', '')).status, 200)
    assert.equal((await sync.call('PUT', 'lock-file?p=nowhere', '')).status, 404)
    const asked = JSON.stringify([
      { repo_id: sync.library, token: sync.token, ts: 0 },
      { repo_id: randomUUID(), token: sync.token, ts: 0 },
    ])
    const listed = await server.anonymous.post('/seafhttp/repo/locked-files', { raw: asked })
    assert.equal(listed.status, 200)
    assert.deepEqual(listed.body[0].locked_files, [{ path: 'folder/a.txt', by_me: 1 }])
    assert.equal(listed.body.length, 1)
    const rights = await server.anonymous.post('/seafhttp/repo/folder-perm', { raw: asked })
    assert.deepEqual(rights.body[0].user_perms, [])
    // The lock now belongs to another account.
    const dora = await server.running.services.accounts.get((await server.signUp()).email)
    await ann.put(`/api2/repos/${sync.library}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: dora.email, permission: 'rw' },
    })
    const { db } = server.running.services
    await db.write((tx) => tx.run('update file_lock set account_key = ?', dora.key))
    const touching: TreeSpec[] = [
      { folder: { 'a.txt': 'changed' }, 'b.txt': 'b' },
      { 'b.txt': 'b' },
      { moved: { 'a.txt': 'a' }, 'b.txt': 'b' },
    ]
    for (const spec of touching) {
      const reply = await sync.putHead(await sync.send(spec, head))
      assert.deepEqual([reply.status, reply.text], [403, 'File folder/a.txt is locked'])
    }
    assert.equal((await sync.call('PUT', 'unlock-file?p=folder/a.txt', '')).status, 403)
    await sync.push({ folder: { 'a.txt': 'a' }, 'b.txt': 'changed' })
  })
})

describe('accessible libraries', () => {
  it('are listed for the holder of a sync token', async () => {
    const sync = await linked()
    const reply = await server.anonymous.call('GET', `/seafhttp/accessible-repos/?repo_id=${sync.library}`, {
      headers: { 'Seafile-Repo-Token': sync.token },
    })
    assert.equal(reply.status, 200)
    const own = reply.body.find((one: { id: string }) => one.id === sync.library)
    assert.deepEqual(own, {
      version: 1,
      id: sync.library,
      head_commit_id: await sync.head(),
      name: 'Notes',
      mtime: own.mtime,
      permission: 'rw',
      owner: ann.email,
      type: 'repo',
    })
  })
})
