import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { makeFolder, makeGroup, shareWith, shareWithGroup } from './sharing-support.ts'

const DAY_SECONDS = 86_400

/** Moves the expiry of every share that has one into the past, as time would. */
async function letTimePass(server: TestServer, seconds = 0): Promise<void> {
  const at = Math.floor(Date.now() / 1000) - seconds
  const sql = 'update share set expires_at = ? where expires_at is not null'
  await server.running.services.db.write((tx) => tx.run(sql, at))
}

describe('the expiry of a share', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  const items = (id: string) => `/api2/repos/${id}/dir/shared_items/`

  async function begin() {
    const owner = await server.signUp()
    const friend = await server.signUp()
    const id = await owner.createLibrary('Notes')
    await makeFolder(owner, id, '/plans')
    await uploadFile(owner, id, '/plans/a.txt', 'one')
    const shareUntil = (form: Record<string, string>, p = '/') =>
      owner.put(items(id), { query: { p }, form: { share_type: 'user', username: friend.email, ...form } })
    const change = (form: Record<string, string>) =>
      owner.post(items(id), { query: { p: '/', share_type: 'user', username: friend.email }, form })
    const listed = async () => (await owner.get(items(id), { p: '/' })).body
    const opens = async (client: Client) => (await client.get(`/api2/repos/${id}/dir/`, { p: '/' })).status
    return { owner, friend, id, shareUntil, change, listed, opens }
  }

  it('is stored with a new share and shown to those who manage it', async () => {
    const { shareUntil, listed, friend, opens } = await begin()
    const before = Math.floor(Date.now() / 1000)
    const made = await shareUntil({ expire_days: '7' })
    assert.equal(made.status, 200, made.text)
    const [{ expire_date, is_expired }] = made.body.success
    assert.equal(is_expired, false)
    const days = (Date.parse(expire_date) / 1000 - before) / DAY_SECONDS
    assert.ok(days >= 7 && days < 7.1, expire_date)
    assert.equal((await listed())[0].expire_date, expire_date)
    assert.equal(await opens(friend), 200)
  })

  it('is not mentioned for a share without one', async () => {
    const { owner, friend, id, listed } = await begin()
    await shareWith(owner, id, friend)
    assert.equal('expire_date' in (await listed())[0], false)
  })

  it('is changed, kept by a change of the permission alone, and removed', async () => {
    const { shareUntil, change, listed } = await begin()
    await shareUntil({ expire_days: '1' })
    const time = '2090-05-17T10:26:22+00:00'
    assert.equal((await change({ permission: 'rw', expiration_time: time })).status, 200)
    assert.deepEqual([(await listed())[0].permission, (await listed())[0].expire_date], ['rw', time])
    assert.equal((await change({ permission: 'r' })).status, 200)
    assert.equal((await listed())[0].expire_date, time)
    assert.equal((await change({ permission: 'r', expiration_time: '' })).status, 200)
    assert.equal('expire_date' in (await listed())[0], false)
  })

  it('rejects what is no time, and a time that has passed', async () => {
    const { shareUntil, listed } = await begin()
    for (const form of [
      { expire_days: '0' },
      { expire_days: 'soon' },
      { expiration_time: 'tomorrow' },
      { expiration_time: '2020-05-17T10:26:22+08:00' },
      { expire_days: '1', expiration_time: '2090-05-17T10:26:22+08:00' },
    ] as Record<string, string>[]) {
      assert.equal((await shareUntil(form)).status, 400, JSON.stringify(form))
    }
    assert.deepEqual(await listed(), [])
  })

  it('ends the access of a person, a group and the recipient of a folder with the next request', async () => {
    const { owner, friend, id, shareUntil, opens } = await begin()
    const member = await server.signUp()
    const reader = await server.signUp()
    const group = await makeGroup('Board', owner, member)
    await shareUntil({ expire_days: '1' })
    await owner.put(items(id), { form: { share_type: 'group', group_id: group, expire_days: '1' } })
    const sub = await shareWith(owner, id, reader, { path: '/plans' })
    const until = { query: { p: '/plans', share_type: 'user', username: reader.email } }
    assert.equal((await owner.post(items(id), { ...until, form: { expire_days: '1' } })).status, 200)
    const opensFolder = async () => (await reader.get(`/api2/repos/${sub}/dir/`, { p: '/' })).status
    assert.deepEqual([await opens(friend), await opens(member), await opensFolder()], [200, 200, 200])
    await letTimePass(server)
    assert.deepEqual([await opens(friend), await opens(member), await opensFolder()], [403, 403, 403])
    for (const client of [friend, member, reader]) {
      assert.deepEqual((await client.get('/api/v2.1/repos/')).body.repos, [])
      assert.deepEqual((await client.get('/api2/beshared-repos/')).body, [])
    }
    const related = (await owner.get(`/api/v2.1/repos/${id}/related-users/`)).body.user_list
    assert.deepEqual(
      related.map(({ email }: { email: string }) => email),
      [owner.email],
    )
  })

  it('leaves another share of the recipient in effect', async () => {
    const { owner, friend, id, shareUntil, opens } = await begin()
    const group = await makeGroup('Council', owner, friend)
    await shareWithGroup(owner, id, group, { permission: 'r' })
    await shareUntil({ expire_days: '1', permission: 'rw' })
    await letTimePass(server)
    assert.equal(await opens(friend), 200)
    const refused = await friend.post(`/api2/repos/${id}/dir/`, {
      query: { p: '/x' },
      form: { operation: 'mkdir' },
    })
    assert.equal(refused.status, 403)
  })

  it('can be extended after it passed, by a change or by sharing again', async () => {
    const { friend, shareUntil, change, listed, opens } = await begin()
    await shareUntil({ expire_days: '1' })
    await letTimePass(server)
    assert.equal((await listed())[0].is_expired, true)
    assert.equal((await change({ permission: 'r', expire_days: '2' })).status, 200)
    assert.equal(await opens(friend), 200)
    await letTimePass(server)
    assert.equal(await opens(friend), 403)
    const again = await shareUntil({ permission: 'rw' })
    assert.deepEqual([again.status, again.body.failed], [200, []])
    assert.deepEqual([(await listed()).length, (await listed())[0].permission], [1, 'rw'])
    assert.equal(await opens(friend), 200)
  })

  it('removes the share from the lists of its owner a month later', async () => {
    const { shareUntil, listed } = await begin()
    await shareUntil({ expire_days: '1' })
    await letTimePass(server, 29 * DAY_SECONDS)
    await server.running.services.shares.deleteExpired()
    assert.equal((await listed()).length, 1)
    await letTimePass(server, 31 * DAY_SECONDS)
    await server.running.services.shares.deleteExpired()
    assert.deepEqual(await listed(), [])
  })
})
