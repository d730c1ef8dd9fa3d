import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const libraries = '/api/v2.1/admin/libraries/'
const trash = '/api/v2.1/admin/trash-libraries/'
const time = 1_754_000_000
const at = '2025-07-31T22:13:20+00:00'
const unknown = '00000000-0000-4000-8000-000000000000'

describe('libraries, for administrators', () => {
  let server: TestServer
  let admin: Client
  let user: Client
  before(async () => {
    server = await startServer({ now: () => time })
    admin = await server.admin()
    user = await server.signUp()
  })
  after(() => server[Symbol.asyncDispose]())

  const shown = (id: string, name: string, owner: Client, more: object = {}) => ({
    id,
    name,
    owner: owner.email,
    owner_email: owner.email,
    owner_name: owner.email.split('@')[0],
    owner_contact_email: owner.email,
    size: 0,
    size_formatted: '0\u00a0bytes',
    encrypted: false,
    file_count: 0,
    status: 'normal',
    last_modified: at,
    ...more,
  })

  it('are listed in pages, sorted by size or number of files, or filtered by name and owner', async () => {
    const owner = await server.signUp()
    const small = await owner.createLibrary('A Small One')
    const large = await owner.createLibrary('100% large_one')
    await uploadFile(owner, small, '/a.txt', 'a')
    await uploadFile(owner, small, '/b.txt', 'b')
    await uploadFile(owner, large, '/a.txt', 'x'.repeat(5000))
    const largeShown = shown(large, '100% large_one', owner, {
      size: 5000,
      size_formatted: '4.9\u00a0KB',
      file_count: 1,
    })
    const bySize = await admin.get(libraries, { order_by: 'size', per_page: 1 })
    assert.deepEqual(bySize.body, {
      page_info: { has_next_page: true, current_page: 1 },
      repos: [largeShown],
    })
    const byFiles = await admin.get(libraries, { order_by: 'file_count', page: 1, per_page: 1 })
    assert.equal(byFiles.body.repos[0].id, small)
    const second = await admin.get(libraries, { order_by: 'size', per_page: 1, page: 2 })
    assert.deepEqual([second.body.repos[0].id, second.body.page_info.current_page], [small, 2])
    const named = await admin.get(libraries, { name: 'SMALL', owner: owner.email })
    assert.deepEqual(
      [named.body.name, named.body.owner, named.body.repos.map((one: { id: string }) => one.id)],
      ['SMALL', owner.email, [small]],
    )
    assert.deepEqual((await admin.get(libraries, { name: '0% large_' })).body.repos, [largeShown])
    assert.deepEqual((await admin.get(libraries, { name: '%' })).body.repos, [largeShown])
    assert.deepEqual((await admin.get(libraries, { owner: 'nobody@example.org' })).body.repos, [])
    assert.deepEqual((await admin.get(libraries, { order_by: 'x' })).body, {
      error_msg: 'order_by invalid.',
    })
    for (const query of ['large_one', large]) {
      const found = await admin.get('/api/v2.1/admin/search-library/', { query })
      assert.deepEqual(found.body.repo_list, [largeShown])
    }
    const none = await admin.get('/api/v2.1/admin/search-library/')
    assert.deepEqual([none.status, none.body], [400, { error_msg: 'query invalid.' }])
    assert.deepEqual((await admin.get(`${libraries}${large}/`)).body, largeShown)
    const missing = await admin.get(`${libraries}${unknown}/`)
    assert.deepEqual([missing.status, missing.body], [404, { error_msg: `Library ${unknown} not found.` }])
  })

  it('are created for others', async () => {
    const made = await admin.post(libraries, { form: { name: 'For you', owner: user.email } })
    assert.deepEqual(made.body, shown(made.body.id, 'For you', user))
    assert.equal((await user.get(`/api2/repos/${made.body.id}/`)).body.owner, 'self')
    const own = await admin.post(libraries, { form: { name: 'Mine' } })
    assert.equal(own.body.owner, admin.email)
    for (const name of ['', 'a/b', 'a\0b']) {
      const reply = await admin.post(libraries, { form: { name } })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'name invalid.' }])
    }
    const missing = await admin.post(libraries, { form: { name: 'X', owner: 'nobody@example.org' } })
    assert.deepEqual(
      [missing.status, missing.body],
      [404, { error_msg: 'User nobody@example.org not found.' }],
    )
  })

  it('are renamed, transferred and made read-only', async () => {
    const next = await server.signUp()
    const guest = await server.signUp({ role: 'guest' })
    const id = await user.createLibrary('Before')
    const link = `${libraries}${id}/`
    const renamed = await admin.put(link, { form: { name: 'After' } })
    assert.deepEqual([renamed.status, renamed.body.name], [200, 'After'])
    assert.equal((await user.get(`/api2/repos/${id}/`)).body.name, 'After')

    assert.equal((await admin.put(link, { form: { status: 'read-only' } })).body.status, 'read-only')
    const write = await user.post(`/api/v2.1/repos/${id}/file/?p=/x`, { form: { operation: 'create' } })
    assert.equal(write.status, 403)
    assert.equal((await admin.put(link, { form: { name: 'Again' } })).status, 403)
    const both = await admin.put(link, { json: { status: 'normal', name: 'Again' } })
    assert.deepEqual([both.body.status, both.body.name], ['normal', 'Again'])

    const bad: [form: Record<string, string>, status: number, message: string][] = [
      [{ status: 'gone' }, 400, 'status invalid.'],
      [{ name: 'a/b' }, 400, 'name invalid.'],
      [{ name: '' }, 400, 'name invalid.'],
      [{ owner: 'x' }, 400, 'owner invalid.'],
      [{ owner: '' }, 400, 'owner invalid.'],
      [{ owner: 'nobody@example.org' }, 404, 'User nobody@example.org not found.'],
      [{ owner: user.email }, 400, 'Library can not be transferred to owner.'],
      [{ owner: guest.email }, 403, `Transfer failed: role of ${guest.email} is guest, can not add library.`],
    ]
    for (const [form, status, message] of bad) {
      const reply = await admin.put(link, { form: { ...form } })
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: message }])
    }
    const moved = await admin.put(link, { form: { owner: next.email, reshare: 'true' } })
    assert.equal(moved.body.owner, next.email)
    assert.equal((await user.get(`/api2/repos/${id}/`)).status, 403)
    assert.equal((await next.get(`/api2/repos/${id}/`)).status, 200)
    assert.equal((await admin.put(`${libraries}${unknown}/`)).status, 404)
  })

  it('do not show their files to an administrator', async () => {
    const id = await user.createLibrary()
    assert.equal((await admin.get(`/api2/repos/${id}/dir/`)).status, 403)
    assert.equal((await admin.delete(`/api2/repos/${id}/`)).status, 403)
  })

  it('are deleted, listed in the trash, restored and purged', async () => {
    const owner = await server.signUp()
    const id = await owner.createLibrary('Deleted')
    assert.deepEqual((await admin.delete(`${libraries}${id}/`)).body, { success: true })
    assert.deepEqual((await admin.delete(`${libraries}${id}/`)).body, { success: true })
    assert.deepEqual((await admin.delete(`${libraries}${unknown}/`)).body, { success: true })
    assert.equal((await owner.get(`/api2/repos/${id}/`)).status, 404)
    const listed = await admin.get(trash, { owner: owner.email })
    assert.deepEqual(listed.body, {
      page_info: { has_next_page: false, current_page: 1 },
      repos: [
        {
          id,
          name: 'Deleted',
          owner: owner.email,
          owner_name: owner.email.split('@')[0],
          delete_time: at,
        },
      ],
    })
    assert.deepEqual((await admin.put(`${trash}${id}/`)).body, { success: true })
    assert.equal((await owner.get(`/api2/repos/${id}/`)).status, 200)
    const missing = { error_msg: 'Library does not exist in trash.' }
    for (const reply of [await admin.put(`${trash}${id}/`), await admin.delete(`${trash}${id}/`)]) {
      assert.deepEqual([reply.status, reply.body], [404, missing])
    }
    assert.equal((await owner.get(`/api2/repos/${id}/`)).status, 200)
    await owner.delete(`/api2/repos/${id}/`)
    assert.deepEqual((await admin.delete(`${trash}${id}/`)).body, { success: true })
    assert.deepEqual((await admin.get(trash, { owner: owner.email })).body.repos, [])
    const { db } = server.running.services
    assert.deepEqual(await db.all('select key from library where id = ?', id), [])
  })

  it('of a removed account go to the administrator who restores them', async () => {
    const owner = await server.signUp()
    const id = await owner.createLibrary('Orphan')
    await uploadFile(owner, id, '/a.txt', 'kept')
    await admin.delete(`/api/v2.1/admin/users/${owner.email}/`)
    const [listed] = (await admin.get(trash)).body.repos
    assert.deepEqual([listed.id, listed.owner], [id, owner.email])
    assert.equal((await admin.put(`${trash}${id}/`)).status, 200)
    assert.equal((await admin.get(`${libraries}${id}/`)).body.owner, admin.email)
    const link = await admin.get(`/api2/repos/${id}/file/`, { p: '/a.txt' })
    assert.equal(await (await fetch(link.body)).text(), 'kept')
  })

  it('are purged by owner or all at once', async () => {
    const [one, two] = [await server.signUp(), await server.signUp()]
    for (const owner of [one, two]) await owner.delete(`/api2/repos/${await owner.createLibrary()}/`)
    await admin.delete(trash, { form: { owner: 'nobody@example.org' } })
    const left = async (owner: Client) => (await admin.get(trash, { owner: owner.email })).body.repos.length
    assert.deepEqual([await left(one), await left(two)], [1, 1])
    await admin.delete(trash, { form: { owner: one.email } })
    assert.deepEqual([await left(one), await left(two)], [0, 1])
    assert.deepEqual((await admin.delete(trash)).body, { success: true })
    assert.deepEqual((await admin.get(trash)).body.repos, [])
  })

  it('are closed to everyone else', async () => {
    for (const { method, path, auth } of server.running.endpoints) {
      if (auth !== 'admin') continue
      const reply = await user.call(method, path.replace(/:\w+/g, unknown))
      assert.equal(reply.status, 403, `${method} ${path}`)
      assert.equal((await server.anonymous.call(method, path.replace(/:\w+/g, unknown))).status, 403)
    }
  })
})
