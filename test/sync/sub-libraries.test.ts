import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { shareWith, unshare } from '../api/sharing-support.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { makeTree, SyncClient, sha1, type TreeSpec } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'

let server: TestServer
let ann: Client
let ben: Client
before(async () => {
  server = await startServer()
  ann = await server.signUp()
  ben = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

const whole = { team: { 'plan.txt': 'plan', deep: { 'b.txt': 'bee' } }, 'secret.txt': 'not for ben' }

interface Place {
  readonly library: string
  /** The whole library, as its owner syncs it. */
  readonly owner: SyncClient
  /** The folder, as a recipient of the share syncs it. */
  readonly sync: SyncClient
}

async function sharedFolder(permission = 'rw', spec: TreeSpec = whole): Promise<Place> {
  const library = await ann.createLibrary()
  const owner = await SyncClient.link(ann, library)
  await owner.push(spec)
  const sub = await shareWith(ann, library, ben, { path: '/team', permission })
  return { library, owner, sync: await SyncClient.link(ben, sub) }
}

async function contentOf(sync: SyncClient): Promise<Record<string, string | null>> {
  const found = [...(await sync.clone())].map(([path, bytes]) => [path, bytes && String(bytes)] as const)
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)))
}

describe('a synced shared folder', () => {
  it('is cloned as a library of its own', async () => {
    const { sync, library } = await sharedFolder()
    assert.deepEqual(await contentOf(sync), { '/deep': null, '/deep/b.txt': 'bee', '/plan.txt': 'plan' })
    const commit = await sync.commit(await sync.head())
    assert.deepEqual([commit.repo_id, commit.repo_name, commit.parent_id], [sync.library, 'team', null])
    const tokens = await ben.get('/api2/repo-tokens/', { repos: sync.library })
    const other = new SyncClient(ben.url, sync.library, tokens.body[sync.library], ben.email)
    assert.equal(await other.head(), await sync.head())
    const check = await sync.call('GET', 'permission-check/?op=upload&client_id=&client_name=')
    assert.equal(check.status, 200, check.text)
    const list = await new SyncClient(ben.url, sync.library, sync.token, '').call('GET', 'commit/HEAD')
    assert.equal(list.status, 200)
    // The token is valid for the folder, not for the library.
    const wrong = new SyncClient(ben.url, library, sync.token, ben.email)
    assert.equal((await wrong.call('GET', 'commit/HEAD')).status, 403)
  })

  it('has the head that the lists of libraries name, also for a client that never asks for it', async () => {
    const { sync, owner } = await sharedFolder()
    const named = async () => {
      const info = await ben.get(`/api2/repos/${sync.library}/download-info/`)
      const { body } = await ben.get('/api2/repos/')
      const listed = body.find((one: { id: string }) => one.id === sync.library)
      assert.equal(listed.head_commit_id, info.body.head_commit_id)
      return info.body.head_commit_id as string
    }
    const first = await named()
    assert.equal((await sync.commit(first)).commit_id, first)
    await owner.push({ ...whole, team: { 'plan.txt': 'another plan' } }, await owner.head())
    const second = await named()
    assert.notEqual(second, first)
    assert.equal((await sync.commit(second)).commit_id, second)
  })

  it('is read by a client that lists only folders, and asks for files when they are opened', async () => {
    const { sync } = await sharedFolder()
    const head = await sync.head()
    const listed = await sync.call('GET', `fs-id-list/?server-head=${head}&dir-only=1`)
    const { root_id: root } = await sync.commit(head)
    assert.ok(listed.body.includes(root) && listed.body.length === 2)
    const { objects } = makeTree({ 'plan.txt': 'plan' }, ben.email)
    const file = [...objects].find(([, json]) => json.includes('block_ids'))?.[0] ?? ''
    const packed = await sync.call('POST', 'pack-fs/?path=plan.txt', JSON.stringify([file]))
    assert.equal(packed.status, 200, packed.text)
    assert.equal(String(await sync.bytes(`block/${sha1('plan')}`)), 'plan')
    assert.equal((await sync.call('GET', `block/${sha1('bee')}`)).status, 500, 'its file was not asked for')
  })

  it('has a new head only when the folder changed', async () => {
    const { sync, library } = await sharedFolder()
    const first = await sync.head()
    await uploadFile(ann, library, '/elsewhere.txt', 'elsewhere')
    assert.equal(await sync.head(), first)
    await uploadFile(ann, library, '/team/new.txt', 'new')
    const second = await sync.head()
    assert.notEqual(second, first)
    const ids = await sync.listIds(second, first)
    assert.equal(ids.length, 2, 'the root and the file')
    assert.equal((await contentOf(sync))['/new.txt'], 'new')
    // A client that was offline for long may ask from the commit it knows.
    assert.equal((await sync.commit(first)).commit_id, first)
  })

  it('accepts pushes into its origin', async () => {
    const { sync, owner } = await sharedFolder()
    const pushed = await sync.push({ 'plan.txt': 'another plan', more: { 'c.txt': 'sea' } })
    const expected = { '/more': null, '/more/c.txt': 'sea', '/plan.txt': 'another plan' }
    assert.deepEqual(await contentOf(sync), expected)
    assert.deepEqual(await contentOf(owner), {
      '/secret.txt': 'not for ben',
      '/team': null,
      '/team/more': null,
      '/team/more/c.txt': 'sea',
      '/team/plan.txt': 'another plan',
    })
    const head = await owner.commit(await owner.head())
    assert.equal(head.creator_name, ben.email)
    // The client continues from its own commit.
    assert.deepEqual(await sync.listIds(await sync.head(), pushed), [])
    assert.equal((await sync.putHead(pushed)).status, 200, 'once more')
    await sync.push({ 'plan.txt': 'yet another' }, pushed)
    assert.deepEqual(await contentOf(sync), { '/plan.txt': 'yet another' })
  })

  it('merges the changes of both sides', async () => {
    const { sync, owner, library } = await sharedFolder()
    const base = await sync.head()
    await uploadFile(ann, library, '/team/web.txt', 'web')
    await uploadFile(ann, library, '/team/plan.txt', 'by ann', { replace: true })
    await sync.push({ 'plan.txt': 'by ben', deep: { 'b.txt': 'bee' }, 'ben.txt': 'ben' }, base)
    const content = await contentOf(sync)
    const aside = Object.keys(content).filter((path) => path.includes('SFConflict'))
    assert.equal(aside.length, 1)
    assert.deepEqual(
      [content['/plan.txt'], content[aside[0] ?? ''], content['/web.txt'], content['/ben.txt']],
      ['by ann', 'by ben', 'web', 'ben'],
    )
    assert.equal((await contentOf(owner))['/secret.txt'], 'not for ben')
  })

  it('returns nothing of the rest of the library, even by a known id', async () => {
    const { sync, owner } = await sharedFolder()
    await sync.clone()
    const secret = makeTree({ 'secret.txt': 'not for ben' }, ann.email)
    const file = [...secret.objects].find(([, json]) => json.includes('block_ids'))?.[0] ?? ''
    const block = sha1('not for ben')
    const { root_id: root } = await owner.commit(await owner.head())
    assert.equal((await sync.call('GET', `commit/${await owner.head()}`)).status, 404)
    assert.equal((await sync.call('GET', `fs-id-list/?server-head=${await owner.head()}`)).status, 500)
    assert.equal((await sync.call('GET', `block/${block}`)).status, 500)
    assert.equal((await sync.call('GET', `block-map/${file}`)).status, 404)
    for (const id of [file, root]) {
      assert.equal((await sync.call('POST', 'pack-fs/', JSON.stringify([id]))).status, 500)
      assert.deepEqual((await sync.call('POST', 'check-fs/', JSON.stringify([id]))).body, [id])
    }
    assert.deepEqual((await sync.call('POST', 'check-blocks/', JSON.stringify([block]))).body, [block])
    // A tree that refers to objects its sender never received.
    const stolen = { root: secret.root, objects: new Map(secret.objects), blocks: new Map() }
    stolen.objects.delete(file)
    const before = await sync.head()
    const commit = await sync.send(stolen, before)
    assert.equal((await sync.putHead(commit)).status, 400)
    const whole = { ...secret, blocks: new Map() }
    const named = await sync.send(whole, before)
    assert.equal((await sync.putHead(named)).status, 446)
    assert.equal(await sync.head(), before)
    // A client that has the bytes may send them.
    await sync.push(secret)
    assert.deepEqual(await contentOf(sync), { '/secret.txt': 'not for ben' })
  })

  it('rejects pushes with read permission, and ends with the share', async () => {
    const { sync, library } = await sharedFolder('r')
    const head = await sync.head()
    const commit = sync.makeCommit(makeTree({}, ben.email).root, head)
    assert.equal((await sync.putCommit(commit)).status, 403)
    assert.equal((await sync.putHead(commit.id)).status, 403)
    await unshare(ann, library, ben, '/team')
    assert.equal((await sync.call('GET', 'commit/HEAD')).status, 403)
  })

  it('shows new recipients nothing from before the share', async () => {
    const { sync, library } = await sharedFolder()
    const old = await sync.head()
    await sync.clone()
    await unshare(ann, library, ben, '/team')
    await uploadFile(ann, library, '/team/new.txt', 'new')
    const sub = await shareWith(ann, library, ben, { path: '/team' })
    const again = await SyncClient.link(ben, sub)
    assert.equal((await contentOf(again))['/new.txt'], 'new')
    if (sub === sync.library) assert.equal((await again.call('GET', `commit/${old}`)).status, 404)
  })

  it('rejects a deactivated account without making its clients remove the library', async () => {
    const cid = await server.signUp()
    const library = await cid.createLibrary()
    const sync = await SyncClient.link(cid, library)
    const { accounts } = server.running.services
    await accounts.update(cid.email, { active: false }, undefined)
    assert.equal((await sync.call('GET', 'commit/HEAD')).status, 403)
  })

  it('follows its folder, and is deleted with it', async () => {
    const { sync, owner } = await sharedFolder()
    const base = await sync.head()
    await owner.push({ renamed: whole.team, 'secret.txt': 'x' })
    assert.equal(await sync.head(), base)
    await sync.push({ 'plan.txt': 'after the rename' }, base)
    assert.deepEqual(await contentOf(owner), {
      '/renamed': null,
      '/renamed/plan.txt': 'after the rename',
      '/secret.txt': 'x',
    })
    await owner.push({ 'secret.txt': 'x' })
    assert.equal((await sync.call('GET', 'commit/HEAD')).status, 444)
  })
})
