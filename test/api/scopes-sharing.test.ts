import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { postForm, uploadFile, uploadLink } from '../support/transfer.ts'
import { makeGroup, shareWith, shareWithGroup, unshare } from './sharing-support.ts'

describe('a scoped token of an account with shared libraries', () => {
  let server: TestServer
  let ann: Client
  let ben: Client
  /** Of ann: one shared with ben, `other` with a group of his, and a folder of `third`. */
  let whole: string
  let other: string
  let third: string
  let folder: string
  before(async () => {
    server = await startServer()
    ann = await server.signUp()
    ben = await server.signUp()
    whole = await ann.createLibrary('Whole')
    other = await ann.createLibrary('Other')
    third = await ann.createLibrary('Third')
    for (const id of [whole, other, third]) await uploadFile(ann, id, '/docs/a.txt', id)
    await uploadFile(ann, third, '/secret.txt', 'secret')
    await shareWith(ann, whole, ben, { permission: 'admin' })
    await shareWithGroup(ann, other, await makeGroup('Both', ann, ben), { permission: 'r' })
    folder = await shareWith(ann, third, ben, { path: '/docs' })
  })
  after(() => server[Symbol.asyncDispose]())

  const listed = async (client: Client) => {
    const older = (await client.get('/api2/repos/')).body
    const newer = (await client.get('/api/v2.1/repos/')).body.repos
    const shown = (one: Partial<Record<'repo_id' | 'id' | 'permission' | 'is_admin', unknown>>) =>
      [one.repo_id ?? one.id, one.permission, one.is_admin].join(' ').trim()
    const names = older.map(shown).toSorted()
    assert.deepEqual(newer.map(shown).toSorted(), names)
    return names
  }
  const statusOf = async (client: Client, id: string) =>
    (await client.get(`/api/v2.1/repos/${id}/dir/`)).status
  const makeDir = async (client: Client, id: string, p: string) =>
    (await client.post(`/api/v2.1/repos/${id}/dir/`, { query: { p }, form: { operation: 'mkdir' } })).status

  it('gives access to all shares with their permission, and manages nothing', async () => {
    const token = await personalToken(ben, { permission: 'rw' })
    assert.deepEqual(
      await listed(token),
      [`${whole} rw false`, `${other} r`, `${folder} rw false`].toSorted(),
    )
    assert.equal(await makeDir(token, whole, '/by-token'), 200)
    assert.equal(await makeDir(token, folder, '/by-token'), 200)
    assert.equal(await makeDir(token, other, '/by-token'), 403)
    assert.equal(await statusOf(token, third), 403)
    // Ben may empty the trash of a library he administers; his token may not.
    assert.equal((await token.delete(`/api/v2.1/repos/${whole}/trash/`)).status, 403)
    assert.equal((await token.get(`/api/v2.1/repos/${whole}/`)).body.is_admin, false)
    assert.equal((await ben.get(`/api/v2.1/repos/${whole}/`)).body.is_admin, true)
  })

  it('with read permission only reads', async () => {
    const token = await personalToken(ben, { permission: 'r' })
    assert.deepEqual(await listed(token), [`${whole} r false`, `${other} r`, `${folder} r false`].toSorted())
    for (const id of [whole, other, folder]) {
      assert.equal(await statusOf(token, id), 200)
      assert.equal(await makeDir(token, id, '/by-token'), 403)
    }
  })

  it('for one library stays in it, and loses it with the share', async () => {
    const cem = await server.signUp()
    await shareWith(ann, whole, cem)
    await shareWith(ann, other, cem)
    const token = await personalToken(cem, { permission: 'rw', repo_id: whole })
    assert.deepEqual(await listed(token), [`${whole} rw false`])
    assert.deepEqual([await statusOf(token, whole), await statusOf(token, other)], [200, 403])
    await unshare(ann, whole, cem)
    assert.deepEqual(await listed(token), [])
    assert.equal(await statusOf(token, whole), 403)
  })

  it('for one shared folder stays in it, even if its account has access to more', async () => {
    const token = await personalToken(ben, { permission: 'rw', repo_id: folder })
    await shareWith(ann, third, ben)
    assert.deepEqual(await listed(token), [`${folder} rw false`])
    assert.deepEqual([await statusOf(token, folder), await statusOf(token, third)], [200, 403])
    assert.deepEqual([await statusOf(ben, folder), await statusOf(ben, third)], [200, 200])
    const link = await uploadLink(token, folder)
    const file = { filename: 'b.txt', bytes: 'b' }
    assert.equal((await postForm(link, [['parent_dir', '/'], file])).status, 200)
    const [shown] = (await ben.get('/api/v2.1/personal-tokens/')).body.personal_tokens
    assert.deepEqual([shown.repo_id, shown.repo_name], [folder, 'docs'])
    const owners = await personalToken(ann, { permission: 'r', repo_id: folder })
    assert.deepEqual([await statusOf(owners, folder), await statusOf(owners, third)], [200, 403])
    await unshare(ann, third, ben)
  })

  it('of one library gives access to the shared folders in it', async () => {
    const token = await personalToken(ann, { permission: 'r', repo_id: third })
    assert.deepEqual([await statusOf(token, folder), await statusOf(token, third)], [200, 200])
    assert.equal(await statusOf(token, whole), 403)
  })

  it('unlocks an encrypted library with the password, for itself only', async () => {
    const password = 'a long password'
    const id: string = (await ann.post('/api2/repos/', { form: { name: 'Closed', passwd: password } })).body
      .repo_id
    await shareWith(ann, id, ben)
    const token = await personalToken(ben, { permission: 'r' })
    const open = async (client: Client) =>
      (await client.get(`/api/v2.1/repos/${id}/`)).body.lib_need_decrypt === false
    const setPassword = (client: Client) =>
      client.post(`/api/v2.1/repos/${id}/set-password/`, { form: { password } })
    assert.equal((await setPassword(ben)).status, 200)
    assert.deepEqual([await open(ben), await open(token)], [true, false])
    assert.equal((await setPassword(token)).status, 200)
    assert.deepEqual([await open(ben), await open(token)], [true, true])
    assert.equal((await token.delete(`/api/v2.1/repos/${id}/set-password/`)).status, 200)
    assert.deepEqual([await open(ben), await open(token)], [true, false])
    const change = { old_password: password, new_password: 'another password' }
    assert.equal((await token.put(`/api/v2.1/repos/${id}/set-password/`, { form: change })).status, 403)
  })
})
