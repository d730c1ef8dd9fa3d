import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { makeGroup, shareWith } from './sharing-support.ts'

const WITH_RECIPIENT = 'A user or group can have at most 100 shares of the same person.'

describe('the number of shares', () => {
  let server: TestServer
  let giver: Client
  let receiver: Client
  const libraries: string[] = []
  before(async () => {
    server = await startServer()
    giver = await server.signUp()
    receiver = await server.signUp()
    for (let n = 0; n < 101; n++) libraries.push(await giver.createLibrary(`L${n}`))
  })
  after(() => server[Symbol.asyncDispose]())

  const batch = async (fields: Record<string, string>, ids: readonly string[]) =>
    giver.post('/api/v2.1/repos/batch/', {
      json: { operation: 'share', permission: 'r', repo_id: ids, ...fields },
    })

  it('of one giver with one user is limited, and those with others are not affected', async () => {
    const fields = { share_type: 'user', username: receiver.email }
    const { body } = await batch(fields, libraries)
    assert.deepEqual(
      [body.success.length, body.failed.map((one: { error_msg: string }) => one.error_msg)],
      [100, [WITH_RECIPIENT]],
    )
    const last = libraries.at(-1) ?? ''
    const one = await giver.put(`/api2/repos/${last}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: receiver.email, permission: 'r' },
    })
    assert.deepEqual([one.body.success, one.body.failed[0].error_msg], [[], WITH_RECIPIENT])
    const other = await server.signUp()
    await shareWith(giver, last, other)
    await shareWith(other, await other.createLibrary('Theirs'), receiver)
    assert.equal((await receiver.get('/api2/beshared-repos/')).body.length, 101)
    // A share that ended makes room for another.
    const query = { p: '/', share_type: 'user', username: receiver.email }
    await giver.delete(`/api2/repos/${libraries[0]}/dir/shared_items/`, { query })
    await shareWith(giver, last, receiver)
  })

  it('of one giver with one group is limited', async () => {
    const group = await makeGroup('Crowd', giver, receiver)
    const { body } = await batch({ share_type: 'group', group_id: String(group) }, libraries)
    assert.deepEqual([body.success.length, body.failed[0]?.error_msg], [100, WITH_RECIPIENT])
    // A new library of the group counts, too.
    const made = await giver.post(`/api/v2.1/groups/${group}/libraries/`, { form: { repo_name: 'More' } })
    assert.deepEqual([made.status, made.body.error_msg], [400, WITH_RECIPIENT])
    const names = (await giver.get('/api2/repos/', { type: 'mine' })).body.map(
      (one: { name: string }) => one.name,
    )
    assert.equal(names.includes('More'), false)
  })

  it('of one giver is limited in all', async () => {
    const { db, accounts } = server.running.services
    const other = await server.signUp()
    const { key } = await accounts.get(other.email)
    const library = await other.createLibrary('Popular')
    const row = await db.get<{ key: number }>('select key from library where id = ?', library)
    const columns = [
      'library_key',
      'grantee',
      'grantee_key',
      'permission',
      'is_admin',
      'granted_by',
      'created_at',
    ]
    const rows = Array.from({ length: 10_000 }, (_, n) => [
      row?.key ?? 0,
      'group',
      1_000_000 + n,
      'r',
      0,
      key,
      1,
    ])
    await db.write((tx) => tx.insert('share', columns, rows))
    const reply = await other.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: receiver.email, permission: 'r' },
    })
    assert.equal(reply.body.failed[0]?.error_msg, 'An account can have at most 10000 shares.')
  })

  it('does not grow through groups that somebody is added to', async () => {
    const stranger = await server.signUp()
    const statuses: number[] = []
    let last = 0
    for (let n = 0; n < 51; n++) {
      const made = await stranger.post('/api/v2.1/groups/', { form: { name: `Mine ${n}` } })
      last = made.body.id
      const form = { email: receiver.email }
      statuses.push((await stranger.post(`/api/v2.1/groups/${last}/members/`, { form })).status)
    }
    assert.deepEqual(statuses, [...Array.from({ length: 50 }, () => 201), 400])
    const bulk = await stranger.post(`/api/v2.1/groups/${last}/members/bulk/`, {
      form: { emails: receiver.email },
    })
    assert.match(bulk.body.failed[0]?.error_msg, /^An owner can have at most 50 groups/)
    const admin = await server.admin()
    const added = await admin.post(`/api/v2.1/admin/groups/${last}/members/`, {
      form: { email: receiver.email },
    })
    assert.deepEqual([added.status, added.body.failed], [200, []], added.text)
  })
})
