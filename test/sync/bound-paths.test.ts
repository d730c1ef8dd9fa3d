import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { shareWith } from '../api/sharing-support.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient, type TreeSpec } from '../support/sync-client.ts'
import { namesIn, uploadFile } from '../support/transfer.ts'

let server: TestServer
let ann: Client
let ben: Client
before(async () => {
  server = await startServer()
  ann = await server.signUp()
  ben = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

/** A library with this content, pushed by a client. */
async function pushed(spec: TreeSpec): Promise<SyncClient> {
  const sync = await SyncClient.link(ann, await ann.createLibrary())
  await sync.push(spec)
  return sync
}

/** A link, and the response to its visitors. */
async function linkTo({ library }: SyncClient, path: string): Promise<() => Promise<string | number>> {
  const reply = await ann.post('/api/v2.1/share-links/', { json: { repo_id: library, path } })
  assert.equal(reply.status, 200, reply.text)
  return async () => {
    const got = await fetch(`${reply.body.link}?dl=1`)
    const text = await got.text()
    return got.status === 200 ? text : got.status
  }
}

async function sharedNames(sub: string): Promise<string[] | number> {
  const reply = await ben.get(`/api2/repos/${sub}/`)
  return reply.status === 200 ? namesIn(ben, sub) : reply.status
}

const doc = { docs: { 'a.txt': 'alpha', deep: { 'b.txt': 'bee' } }, 'c.txt': 'sea' }

describe('a lock, star or link bound to a path, when a client pushes', () => {
  it('follows renames of files and folders', async () => {
    const sync = await pushed(doc)
    const [file, below] = [await linkTo(sync, '/c.txt'), await linkTo(sync, '/docs/deep/b.txt')]
    const sub = await shareWith(ann, sync.library, ben, { path: '/docs' })
    const inner = await shareWith(ann, sync.library, ben, { path: '/docs/deep' })
    const form = { repo_id: sync.library, path: '/c.txt' }
    assert.equal((await ann.post('/api/v2.1/starred-items/', { form })).status, 200)
    assert.equal((await sync.call('PUT', 'lock-file?p=c.txt', '')).status, 200)
    await sync.push({ 'other name.txt': 'sea', moved: doc.docs })
    assert.deepEqual([await file(), await below()], ['sea', 'bee'])
    assert.deepEqual(await sharedNames(sub), ['a.txt', 'deep/'])
    assert.deepEqual(await sharedNames(inner), ['b.txt'])
    const stars = (await ann.get('/api/v2.1/starred-items/')).body.starred_item_list
    assert.ok(
      stars.some(
        (one: { path: string; repo_id: string }) =>
          one.repo_id === sync.library && one.path === '/other name.txt',
      ),
    )
    const { body } = await ann.get(`/api/v2.1/repos/${sync.library}/dir/`, { p: '/' })
    const locked = body.dirent_list.filter((one: { is_locked?: boolean }) => one.is_locked)
    assert.deepEqual(
      locked.map((one: { name: string }) => one.name),
      ['other name.txt'],
    )
  })

  it('follows an entry moved into a new folder, and out of a deleted one', async () => {
    const sync = await pushed(doc)
    const [file, below] = [await linkTo(sync, '/c.txt'), await linkTo(sync, '/docs/deep/b.txt')]
    const sub = await shareWith(ann, sync.library, ben, { path: '/docs/deep' })
    await sync.push({ fresh: { inner: { 'c.txt': 'sea' } }, deep: { 'b.txt': 'bee' } })
    assert.deepEqual([await file(), await below(), await sharedNames(sub)], ['sea', 'bee', ['b.txt']])
  })

  it('is deleted with its entry, whatever appears at the path later', async () => {
    const sync = await pushed(doc)
    const [file, below] = [await linkTo(sync, '/c.txt'), await linkTo(sync, '/docs/a.txt')]
    const sub = await shareWith(ann, sync.library, ben, { path: '/docs' })
    const gone = await sync.send({ 'keep.txt': 'keep' }, await sync.head())
    await sync.push({ 'keep.txt': 'keep', 'c.txt': 'another', docs: { 'a.txt': 'another' } }, gone)
    assert.deepEqual([await file(), await below(), await sharedNames(sub)], [404, 404, 404])
  })

  it('is deleted when a file becomes a folder, and kept when the file was edited', async () => {
    const sync = await pushed({ a: 'one', 'b.txt': 'two' })
    const [turned, edited] = [await linkTo(sync, '/a'), await linkTo(sync, '/b.txt')]
    await sync.push({ a: { 'x.txt': 'one more' }, 'b.txt': 'two, edited' })
    assert.deepEqual([await turned(), await edited()], [404, 'two, edited'])
  })

  it('follows a rename and an edit pushed together, over several commits', async () => {
    const sync = await pushed({ 'a.txt': 'one', 'b.txt': 'two', f: { x: 'x' } })
    const [a, b] = [await linkTo(sync, '/a.txt'), await linkTo(sync, '/b.txt')]
    const sub = await shareWith(ann, sync.library, ben, { path: '/f' })
    // The two swap places, and the folder is edited after its rename.
    const first = await sync.send({ 't.txt': 'one', 'b.txt': 'two', g: { x: 'x' } }, await sync.head())
    const second = await sync.send({ 't.txt': 'one', 'a.txt': 'two', g: { x: 'x' } }, first)
    await sync.push({ 'b.txt': 'one', 'a.txt': 'two', g: { x: 'x', y: 'y' } }, second)
    assert.deepEqual([await a(), await b(), await sharedNames(sub)], ['one', 'two', ['x', 'y']])
  })

  it('follows its entry through a merge', async () => {
    const sync = await pushed(doc)
    const base = await sync.head()
    const [file, below] = [await linkTo(sync, '/c.txt'), await linkTo(sync, '/docs/a.txt')]
    const sub = await shareWith(ann, sync.library, ben, { path: '/docs' })
    await uploadFile(ann, sync.library, '/by the web.txt', 'web')
    await sync.push({ 'renamed.txt': 'sea', moved: doc.docs }, base)
    assert.deepEqual([await file(), await below()], ['sea', 'alpha'])
    assert.deepEqual(await sharedNames(sub), ['a.txt', 'deep/'])
    assert.deepEqual((await sync.commit(await sync.head())).new_merge, 1)
  })

  it('is deleted in a merge with its entry, and kept with an entry that the head kept', async () => {
    const sync = await pushed({ ...doc, 'kept.txt': 'as it was' })
    const base = await sync.head()
    const [gone, kept] = [await linkTo(sync, '/c.txt'), await linkTo(sync, '/kept.txt')]
    const sub = await shareWith(ann, sync.library, ben, { path: '/docs' })
    await uploadFile(ann, sync.library, '/kept.txt', 'changed by the web', { replace: true })
    const first = await sync.send({ 'x.txt': 'x' }, base)
    await sync.push({ 'x.txt': 'x', 'c.txt': 'another' }, first)
    assert.deepEqual([await gone(), await kept(), await sharedNames(sub)], [404, 'changed by the web', 404])
  })
})
