import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import sharp from 'sharp'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { DavClient } from '../webdav/dav-client.ts'
import { makeFolder, makeGroup, shareWith, shareWithGroup, unshare } from './sharing-support.ts'

const PASSWORD = 'pass word 1'
const HELD = '/api/v2.1/held-shares/'

describe('shares of new givers, with CARREL_SHARE_ACCEPTANCE=new-givers', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ env: { CARREL_SHARE_ACCEPTANCE: 'new-givers' } })
  })
  after(() => server[Symbol.asyncDispose]())

  const held = async (client: Client) => {
    const { status, body } = await client.get(HELD)
    assert.equal(status, 200)
    return {
      shares: body.held_shares.map((one: { name: string; type: string }) => `${one.type} ${one.name}`).sort(),
      groups: body.held_groups.map((one: { group_name: string }) => one.group_name),
      from: body.held_shares[0]?.from_email ?? body.held_groups[0]?.from_email,
    }
  }

  /** What a recipient finds of a library on each surface. */
  async function found(client: Client, id: string, word: string) {
    const names = async (path: string, query = {}) => {
      const { status, body } = await client.get(path, query)
      assert.equal(status, 200, path)
      return JSON.stringify(body).includes(id)
    }
    const dav = new DavClient(server.url, client.email, PASSWORD)
    const search = await client.get('/api2/search/', { q: word })
    return {
      listed: await names('/api2/repos/'),
      repos: await names('/api/v2.1/repos/'),
      beshared: await names('/api2/beshared-repos/'),
      activities: await names('/api/v2.1/activities/'),
      opened: (await client.get(`/api2/repos/${id}/dir/`, { p: '/' })).status,
      download: (await client.get(`/api2/repos/${id}/file/`, { p: `/${word}.txt` })).status,
      sync: (await client.get(`/api2/repos/${id}/download-info/`)).status,
      star: (await client.post('/api/v2.1/starred-items/', { form: { repo_id: id, path: '/' } })).status,
      photos: await names('/api/v2.1/photos/'),
      search: search.body.total > 0,
      dav: (await dav.names('/dav/')).includes('Plans'),
      davFile: (await dav.call('GET', `/dav/Plans/${word}.txt`)).status,
    }
  }

  async function people() {
    return { giver: await server.signUp(), receiver: await server.signUp({ password: PASSWORD }) }
  }

  it('are on no surface until they are accepted, and later ones take effect at once', async () => {
    const { giver, receiver } = await people()
    const id = await giver.createLibrary('Plans')
    await uploadFile(giver, id, '/quokka.txt', 'x')
    await uploadFile(giver, id, '/photo.jpg', await photo())
    await server.running.services.photos.settled()
    await until(async () => (await giver.get('/api2/search/', { q: 'quokka' })).body.total > 0)
    await shareWith(giver, id, receiver)
    assert.deepEqual(await held(receiver), { shares: ['library Plans'], groups: [], from: giver.email })
    assert.deepEqual(await found(receiver, id, 'quokka'), {
      listed: false,
      repos: false,
      beshared: false,
      activities: false,
      opened: 403,
      download: 403,
      sync: 403,
      star: 403,
      photos: false,
      search: false,
      dav: false,
      davFile: 404,
    })
    const notices = await receiver.get('/api/v2.1/notifications/')
    const [notice] = notices.body.notification_list
    assert.deepEqual([notice.type, notice.detail.is_held], ['repo_share', true])
    const accepted = await receiver.post(HELD, { form: { from: giver.email } })
    assert.deepEqual([accepted.status, accepted.body], [200, { success: true }])
    assert.deepEqual((await held(receiver)).shares, [])
    const now = await found(receiver, id, 'quokka')
    assert.deepEqual(
      [now.listed, now.repos, now.beshared, now.photos, now.search, now.activities],
      [true, true, true, true, true, true],
    )
    assert.deepEqual(
      [now.opened, now.download, now.sync, now.star, now.dav, now.davFile],
      [200, 200, 200, 200, true, 200],
    )
    const next = await giver.createLibrary('Next')
    await shareWith(giver, next, receiver)
    assert.equal((await receiver.get(`/api2/repos/${next}/dir/`, { p: '/' })).status, 200)
    assert.equal((await receiver.post(HELD, { form: { from: giver.email } })).status, 404)
  })

  it('of folders and files are held too, and declining ends all of them', async () => {
    const { giver, receiver } = await people()
    const id = await giver.createLibrary('Plans')
    await makeFolder(giver, id, '/docs')
    await uploadFile(giver, id, '/a.txt', 'x')
    const folder = await shareWith(giver, id, receiver, { path: '/docs' })
    const file = await giver.put(`/api/v2.1/repos/${id}/file/shared-items/`, {
      query: { p: '/a.txt' },
      form: { share_type: 'user', username: receiver.email, permission: 'r' },
    })
    assert.equal(file.status, 200, file.text)
    assert.deepEqual((await held(receiver)).shares, ['file a.txt', 'folder docs'])
    for (const view of [folder, file.body.virtual_repo_id]) {
      assert.equal((await receiver.get(`/api2/repos/${view}/dir/`, { p: '/' })).status, 403)
    }
    assert.equal((await receiver.delete(HELD, { query: { from: giver.email } })).status, 200)
    assert.deepEqual((await held(receiver)).shares, [])
    const shares = await giver.get(`/api2/repos/${id}/dir/shared_items/`, { p: '/docs', share_type: 'user' })
    assert.deepEqual(shares.body, [])
  })

  it('can be changed and withdrawn by the giver, of which the recipient is not told', async () => {
    const { giver, receiver } = await people()
    const id = await giver.createLibrary('Plans')
    await shareWith(giver, id, receiver, { permission: 'r' })
    const query = { p: '/', share_type: 'user', username: receiver.email }
    await giver.post(`/api2/repos/${id}/dir/shared_items/`, { query, form: { permission: 'rw' } })
    assert.equal((await receiver.get(HELD)).body.held_shares[0].permission, 'rw')
    assert.equal((await receiver.get(`/api2/repos/${id}/dir/`, { p: '/' })).status, 403)
    await unshare(giver, id, receiver)
    assert.deepEqual((await held(receiver)).shares, [])
    const { body } = await receiver.get('/api/v2.1/notifications/')
    assert.deepEqual(
      body.notification_list.map((one: { type: string }) => one.type),
      ['repo_share'],
    )
  })

  it('are limited for each recipient', async () => {
    const receiver = await server.signUp()
    const givers = await Promise.all([server.signUp(), server.signUp()])
    let count = 0
    for (const giver of givers) {
      const repo_id: string[] = []
      for (let n = 0; n < 60; n++) repo_id.push(await giver.createLibrary(`L${n}`))
      const json = { operation: 'share', share_type: 'user', username: receiver.email, repo_id }
      count += (await giver.post('/api/v2.1/repos/batch/', { json })).body.success.length
    }
    assert.equal(count, 100)
    assert.equal((await held(receiver)).shares.length, 100)
  })

  it('hold memberships in groups of strangers', async () => {
    const { giver, receiver } = await people()
    const id = await giver.createLibrary('Plans')
    const group = await makeGroup('Strangers', giver, receiver)
    await shareWithGroup(giver, id, group)
    assert.deepEqual(await held(receiver), { shares: [], groups: ['Strangers'], from: giver.email })
    assert.equal((await receiver.get(`/api2/repos/${id}/dir/`, { p: '/' })).status, 403)
    assert.equal((await receiver.get(`/api/v2.1/groups/${group}/`)).status, 403)
    assert.deepEqual((await receiver.get('/api/v2.1/groups/')).body, [])
    const members = await giver.get(`/api/v2.1/groups/${group}/members/`)
    assert.equal(members.body.length, 1)
    assert.equal((await receiver.post(HELD, { form: { group_id: group } })).status, 200)
    assert.equal((await receiver.get(`/api2/repos/${id}/dir/`, { p: '/' })).status, 200)
    // Somebody who is in a group with the account is no stranger.
    await makeGroup('Friends', giver, receiver)
    assert.equal((await receiver.get('/api/v2.1/groups/')).body.length, 2)
    const other = await server.signUp()
    const third = await makeGroup('Third', other, receiver)
    assert.equal((await receiver.delete(HELD, { query: { group_id: third } })).status, 200)
    assert.equal((await receiver.delete(HELD, { query: { group_id: third } })).status, 404)
    const fourth = await makeGroup('Fourth', other, receiver)
    assert.equal((await other.delete(`/api/v2.1/groups/${fourth}/members/${receiver.email}/`)).status, 200)
    assert.deepEqual((await held(receiver)).groups, [])
  })

  it('are not replaced by transfers, which nobody can decline', async () => {
    const { giver, receiver } = await people()
    const id = await giver.createLibrary('Plans')
    const hand = () => giver.put(`/api2/repos/${id}/owner/`, { form: { owner: receiver.email } })
    assert.equal((await hand()).status, 403)
    const group = await makeGroup('Given', giver, receiver)
    const handGroup = () => giver.put(`/api/v2.1/groups/${group}/`, { form: { owner: receiver.email } })
    assert.equal((await handGroup()).status, 403)
    assert.deepEqual((await held(receiver)).groups, ['Given'])
    await receiver.post(HELD, { form: { group_id: group } })
    assert.equal((await handGroup()).status, 200)
    await shareWith(giver, await giver.createLibrary('First'), receiver)
    assert.equal((await hand()).status, 403)
    await receiver.post(HELD, { form: { from: giver.email } })
    assert.equal((await hand()).status, 200)
  })

  it('are the business of the recipient alone', async () => {
    const { giver, receiver } = await people()
    const id = await giver.createLibrary('Plans')
    await shareWith(giver, id, receiver)
    for (const client of [giver, await server.signUp()]) {
      assert.equal((await client.post(HELD, { form: { from: giver.email } })).status, 404)
      assert.equal((await client.delete(HELD, { query: { from: giver.email } })).status, 404)
    }
    assert.equal((await receiver.post(HELD, { form: {} })).status, 400)
    assert.equal((await receiver.post(HELD, { form: { group_id: 'x' } })).status, 400)
    assert.deepEqual((await held(receiver)).shares, ['library Plans'])
  })

  it('of administrators of the server are not held', async () => {
    const admin = await server.admin()
    const receiver = await server.signUp()
    const id = await admin.createLibrary('Welcome')
    await shareWith(admin, id, receiver)
    assert.equal((await receiver.get(`/api2/repos/${id}/dir/`, { p: '/' })).status, 200)
  })
})

it('shares take effect at once by default', async () => {
  await using server = await startServer()
  const [giver, receiver] = [await server.signUp(), await server.signUp()]
  const id = await giver.createLibrary('Plans')
  await shareWith(giver, id, receiver)
  assert.equal((await receiver.get(`/api2/repos/${id}/dir/`, { p: '/' })).status, 200)
  assert.deepEqual((await receiver.get(HELD)).body, { held_shares: [], held_groups: [] })
  const { body } = await receiver.get('/api/v2.1/notifications/')
  assert.equal('is_held' in body.notification_list[0].detail, false)
})

function photo(): Promise<Buffer> {
  return sharp({ create: { width: 60, height: 40, channels: 3, background: '#3366cc' } })
    .jpeg()
    .toBuffer()
}

/** The index is written in the background. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await setImmediate()
}
