import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { libraryToken } from '../support/tokens.ts'
import { eventually, headOf, namesIn, postForm, uploadFile } from '../support/transfer.ts'

const via = '/api/v2.1/via-repo-token'
const denied = { error_msg: 'Permission denied.' }
const inactive = { detail: 'Token inactive or deleted' }

describe('library API tokens', () => {
  let server: TestServer
  let user: Client
  let library: string
  let other: string
  before(async () => {
    server = await startServer({ now: () => 1_754_000_000 })
    user = await server.signUp()
    library = await user.createLibrary('Notes')
    other = await user.createLibrary('Other')
    for (const id of [library, other]) {
      await uploadFile(user, id, '/docs/a.txt', 'a')
      await uploadFile(user, id, '/b.txt', 'b')
    }
  })
  after(() => server[Symbol.asyncDispose]())

  const tokens = (id = library) => `/api/v2.1/repos/${id}/repo-api-tokens/`

  it('search only their library, and create links into it', async () => {
    const id = await user.createLibrary('Found')
    await uploadFile(user, id, '/docs/plan.txt', 'text')
    const app = await libraryToken(user, id, 'r')
    await eventually(async () => {
      const { body } = await app.get(`${via}/search-files/`, { q: 'plan' })
      assert.deepEqual(
        body.data.map((item: { path: string }) => item.path),
        ['/docs/plan.txt'],
      )
    })
    assert.deepEqual((await app.get(`${via}/search-files/`, { q: 'b.txt' })).body, { data: [] })
    assert.equal((await app.get(`${via}/search-files/`)).status, 400)
    const link = await app.post(`${via}/share-links/`, { form: { path: '/docs', repo_id: other } })
    assert.deepEqual([link.status, link.body.repo_id, link.body.path], [200, id, '/docs/'])
    const writing = { path: '/docs/plan.txt', permissions: '{"can_upload": true}' }
    assert.equal((await app.post(`${via}/share-links/`, { form: writing })).status, 403)
  })

  it('are created, listed newest first, changed and revoked by the owner', async () => {
    const id = await user.createLibrary()
    const first = await user.post(tokens(id), { form: { app_name: 'first app' } })
    assert.equal(first.status, 200, first.text)
    const { api_token: token, ...rest } = first.body
    assert.match(token, /^[0-9a-f]{40}$/)
    const shown = { repo_id: id, app_name: 'first app', generated_by: user.email, permission: 'rw' }
    assert.deepEqual(rest, shown)
    const second = await user.post(tokens(id), { json: { app_name: 'second', permission: 'r' } })
    assert.equal(second.body.permission, 'r')
    assert.deepEqual((await user.get(tokens(id))).body, { repo_api_tokens: [second.body, first.body] })

    const changed = await user.put(`${tokens(id)}${encodeURIComponent('first app')}/`, {
      form: { permission: 'r' },
    })
    assert.deepEqual(changed.body, { ...first.body, permission: 'r' })
    const removed = await user.delete(`${tokens(id)}second/`)
    assert.deepEqual([removed.status, removed.body], [200, { success: true }])
    assert.deepEqual((await user.get(tokens(id))).body, { repo_api_tokens: [changed.body] })
    assert.equal((await new Client(server.url, second.body.api_token).get(`${via}/dir/`)).status, 401)
  })

  it('are stored as hashes and encrypted, never in plain text', async () => {
    const token = await libraryToken(user, library, 'r', 'resting')
    const rows = await server.running.services.db.all('select hash, sealed from scoped_token')
    for (const row of rows) {
      for (const bytes of Object.values(row)) {
        if (bytes instanceof Uint8Array) assert.ok(!Buffer.from(bytes).includes(token.token ?? ''))
      }
    }
  })

  it('explain invalid requests', async () => {
    await libraryToken(user, library, 'rw', 'taken')
    const bad: [form: Record<string, string>, message: string][] = [
      [{}, 'app_name invalid.'],
      [{ app_name: '' }, 'app_name invalid.'],
      [{ app_name: 'x'.repeat(256) }, 'app_name invalid.'],
      [{ app_name: 'a\nb' }, 'app_name invalid.'],
      [{ app_name: 'a\0b' }, 'app_name invalid.'],
      // The name of an account must not be imitated in the history.
      [{ app_name: 'admin@example.org' }, 'app_name invalid.'],
      [{ app_name: 'app', permission: 'admin' }, 'permission invalid.'],
      [{ app_name: 'taken' }, 'app: taken token already exists.'],
    ]
    for (const [form, message] of bad) {
      const reply = await user.post(tokens(), { form })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
    }
    const missing = { error_msg: 'api token not found' }
    const put = await user.put(`${tokens()}none/`, { form: { permission: 'r' } })
    assert.deepEqual([put.status, put.body], [404, missing])
    assert.deepEqual((await user.put(`${tokens()}taken/`)).body, { error_msg: 'permission invalid.' })
    const gone = await user.delete(`${tokens()}none/`)
    assert.deepEqual([gone.status, gone.body], [404, missing])
    const none = '00000000-0000-4000-8000-000000000000'
    assert.equal((await user.get(tokens(none))).status, 404)
  })

  it('are managed by the owner only', async () => {
    const stranger = await server.signUp()
    await libraryToken(user, library, 'rw', 'guarded')
    const replies = [
      await stranger.get(tokens()),
      await stranger.post(tokens(), { form: { app_name: 'x' } }),
      await stranger.put(`${tokens()}guarded/`, { form: { permission: 'r' } }),
      await stranger.delete(`${tokens()}guarded/`),
    ]
    for (const reply of replies) assert.deepEqual([reply.status, reply.body], [403, denied])
  })

  it('give access to their library, with the parameter names of that API', async () => {
    const token = await libraryToken(user, library, 'r', 'reader')
    const info = await token.get(`${via}/repo-info/`)
    const { size, file_count: files } = info.body
    assert.deepEqual(info.body, {
      repo_id: library,
      repo_name: 'Notes',
      size,
      file_count: files,
      last_modified: '2025-07-31T22:13:20+00:00',
    })
    const root = await token.get(`${via}/dir/`)
    assert.equal(root.body.user_perm, 'r')
    const names = (reply: typeof root) => reply.body.dirent_list.map(({ name }: { name: string }) => name)
    assert.ok(names(root).includes('docs'))
    assert.deepEqual(names(await token.get(`${via}/dir/`, { path: '/docs' })), ['a.txt'])
    assert.deepEqual(names(await token.get(`${via}/dir/`, { path: '/', type: 'd' })), ['docs'])
    // The other parameter names are not read here.
    assert.ok(names(await token.get(`${via}/dir/`, { p: '/docs' })).includes('docs'))
    const none = await token.get(`${via}/dir/`, { path: '/none' })
    assert.deepEqual([none.status, none.body], [404, { error_msg: 'Folder /none/ not found.' }])
    const file = await token.get(`${via}/file/`, { path: '/docs/a.txt' })
    assert.deepEqual([file.status, file.body.obj_name, file.body.repo_id], [200, 'a.txt', library])
    assert.deepEqual((await token.get(`${via}/file/`)).body, { error_msg: 'path invalid.' })
    const link = await token.get(`${via}/download-link/`, { path: '/docs/a.txt' })
    assert.equal(await (await fetch(link.body)).text(), 'a')
    const errors: [query: Record<string, string>, status: number, message: string][] = [
      [{}, 400, 'path invalid.'],
      [{ path: '/none' }, 404, 'File not found'],
    ]
    for (const [query, status, message] of errors) {
      const reply = await token.get(`${via}/download-link/`, query)
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: message }])
    }
    const blocks = await token.get(`${via}/download-link/`, { path: '/docs/a.txt', op: 'downloadblks' })
    assert.match(blocks.body, /\/seafhttp\/files\//)
  })

  it('change the library in the name of the app', async () => {
    const id = await user.createLibrary('Changing')
    const token = await libraryToken(user, id, 'rw', 'robot')
    const at = (path: string) => `?path=${encodeURIComponent(path)}`
    const ok = async (work: Promise<{ status: number; text: string }>) => {
      const reply = await work
      assert.equal(reply.status, 200, reply.text)
    }
    await ok(token.post(`${via}/dir/${at('/in')}`, { json: { operation: 'mkdir' } }))
    await ok(token.post(`${via}/dir/${at('/out')}`, { form: { operation: 'mkdir' } }))
    await ok(token.post(`${via}/file/${at('/in/x.txt')}`, { json: { operation: 'create' } }))
    await ok(
      token.post(`${via}/file/${at('/in/x.txt')}`, { json: { operation: 'rename', newname: 'y.txt' } }),
    )
    await ok(token.put(`${via}/file/${at('/in/y.txt')}`, { form: { operation: 'lock' } }))
    await ok(token.put(`${via}/file/${at('/in/y.txt')}`, { form: { operation: 'unlock' } }))
    const link = await token.get(`${via}/upload-link/`, { path: '/in', replace: 1 })
    const sent = await postForm(link.body, [['parent_dir', '/in'], { filename: 'z.txt', bytes: 'z' }])
    assert.equal(sent.status, 200, sent.text)
    const copy = { src_parent_dir: '/in', src_dirents: ['z.txt'], dst_parent_dir: '/out' }
    const copied = await token.post(`${via}/sync-batch-copy-item/`, { json: copy })
    assert.deepEqual([copied.status, copied.body], [200, { success: true }])
    const move = { ...copy, src_dirents: ['y.txt'] }
    assert.deepEqual((await token.post(`${via}/sync-batch-move-item/`, { json: move })).body, {
      success: true,
    })
    const dir = { src_parent_dir: '/', src_dirent_name: 'in', dst_parent_dir: '/out' }
    assert.deepEqual((await token.post(`${via}/move-dir/`, { form: dir })).body, { success: true })
    assert.deepEqual(await namesIn(user, id), ['out/'])
    assert.deepEqual(await namesIn(user, id, '/out'), ['in/', 'y.txt', 'z.txt'])
    await ok(token.delete(`${via}/batch-delete-item/`, { json: { parent_dir: '/out', dirents: ['z.txt'] } }))
    await ok(token.delete(`${via}/file/${at('/out/y.txt')}`))
    await ok(
      token.post(`${via}/file/${at('/out/in/z.txt')}`, {
        json: { operation: 'copy', dst_dir: '/', dst_repo: other },
      }),
    )
    assert.deepEqual(await namesIn(user, id), ['out/', 'z.txt'])
    await ok(token.delete(`${via}/dir/${at('/out')}`))
    const history = (await user.get(`/api/v2.1/repos/${id}/history/`)).body.data
    const authors = new Set(history.slice(0, -1).map((commit: { email: string }) => commit.email))
    assert.deepEqual([...authors], ['robot'])
    assert.equal(history[0].name, 'robot')
    const file = await user.get(`/api2/repos/${id}/file/detail/`, { p: '/z.txt' })
    assert.equal(file.body.last_modifier_email, 'robot')
  })

  it('write nothing with read permission', async () => {
    const token = await libraryToken(user, library, 'r', 'only reads')
    const before = await headOf(user, library)
    const entry = { src_parent_dir: '/', src_dirents: ['b.txt'], dst_parent_dir: '/docs' }
    const replies = [
      await token.post(`${via}/dir/?path=/new`, { form: { operation: 'mkdir' } }),
      await token.post(`${via}/dir/?path=/docs`, { form: { operation: 'rename', newname: 'x' } }),
      await token.delete(`${via}/dir/?path=/docs`),
      await token.post(`${via}/file/?path=/new.txt`, { form: { operation: 'create' } }),
      await token.post(`${via}/file/?path=/b.txt`, { form: { operation: 'rename', newname: 'x' } }),
      await token.post(`${via}/file/?path=/b.txt`, { form: { operation: 'copy', dst_dir: '/docs' } }),
      await token.post(`${via}/file/?path=/b.txt`, { form: { operation: 'move', dst_dir: '/docs' } }),
      await token.put(`${via}/file/?path=/b.txt`, { form: { operation: 'lock' } }),
      await token.delete(`${via}/file/?path=/b.txt`),
      await token.get(`${via}/upload-link/`),
      await token.post(`${via}/sync-batch-copy-item/`, { json: entry }),
      await token.post(`${via}/sync-batch-move-item/`, { json: entry }),
      await token.delete(`${via}/batch-delete-item/`, { json: { parent_dir: '/', dirents: ['b.txt'] } }),
      await token.post(`${via}/move-dir/`, { json: { ...entry, src_dirent_name: 'b.txt' } }),
    ]
    for (const [index, reply] of replies.entries()) {
      assert.deepEqual([reply.status, reply.body], [403, denied], String(index))
    }
    assert.equal(await headOf(user, library), before)
  })

  it('never give access to another library, whatever the request', async () => {
    const token = await libraryToken(user, library, 'rw', 'confined')
    const before = await headOf(user, other)
    const ids = { repo_id: other, src_repo_id: other, dst_repo_id: other, dst_repo: other }
    const entry = { ...ids, src_parent_dir: '/', src_dirents: ['b.txt'], dst_parent_dir: '/docs' }
    await token.post(`${via}/sync-batch-copy-item/?repo_id=${other}`, { json: entry })
    await token.post(`${via}/sync-batch-move-item/`, { json: entry })
    await token.delete(`${via}/batch-delete-item/`, {
      json: { ...ids, parent_dir: '/', dirents: ['b.txt'] },
    })
    await token.post(`${via}/file/?path=/docs/a.txt&repo_id=${other}`, {
      json: { ...ids, operation: 'copy', dst_dir: '/' },
    })
    assert.equal((await token.get(`${via}/repo-info/`, { repo_id: other })).body.repo_id, library)
    assert.equal(await headOf(user, other), before)
    // Such a token is not accepted outside of these calls either.
    for (const { method, path, auth } of server.running.endpoints) {
      if (auth !== 'user' && auth !== 'admin') continue
      const reply = await token.call(method, path.replace(':repo_id', library).replace(/:\w+/g, '1'))
      assert.equal(reply.status, 401, `${method} ${path}`)
    }
  })

  it('reject a missing token and one of another kind', async () => {
    for (const { method, path, auth } of server.running.endpoints) {
      if (auth !== 'library') continue
      assert.equal((await server.anonymous.call(method, path)).status, 403, path)
      const reply = await user.call(method, path)
      assert.deepEqual([reply.status, reply.body], [401, inactive], path)
      const unknown = new Client(server.url, 'f'.repeat(40))
      assert.deepEqual((await unknown.call(method, path)).body, inactive, path)
    }
  })

  it('are revoked with all tickets, also when their permission is reduced', async () => {
    const token = await libraryToken(user, library, 'rw', 'ending')
    const upload = (await token.get(`${via}/upload-link/`)).body
    const download = (await token.get(`${via}/download-link/`, { path: '/docs/a.txt', reuse: 1 })).body
    const send = (filename: string) => postForm(upload, [['parent_dir', '/'], { filename, bytes: 'x' }])
    assert.equal((await send('one.txt')).status, 200)
    assert.equal((await fetch(download)).status, 200)
    await user.put(`${tokens()}ending/`, { form: { permission: 'r' } })
    assert.equal((await send('two.txt')).status, 403)
    assert.equal((await fetch(download)).status, 200)
    await user.delete(`${tokens()}ending/`)
    assert.equal((await fetch(download)).status, 403)
    assert.equal((await token.get(`${via}/dir/`)).status, 401)
    assert.ok(!(await namesIn(user, library)).includes('two.txt'))
  })

  it('are revoked when the library is transferred or deleted, and stay revoked', async () => {
    const next = await server.signUp()
    const id = await user.createLibrary()
    const token = await libraryToken(user, id)
    assert.equal((await token.get(`${via}/dir/`)).status, 200)
    await user.put(`/api2/repos/${id}/owner/`, { form: { owner: next.email } })
    assert.equal((await token.get(`${via}/dir/`)).status, 401)
    assert.deepEqual((await next.get(tokens(id))).body, { repo_api_tokens: [] })
    await next.put(`/api2/repos/${id}/owner/`, { form: { owner: user.email } })
    assert.equal((await token.get(`${via}/dir/`)).status, 401)

    const again = await libraryToken(user, id)
    await user.delete(`/api2/repos/${id}/`)
    assert.equal((await again.get(`${via}/dir/`)).status, 401)
    await user.post('/api/v2.1/deleted-repos/', { form: { repo_id: id } })
    assert.equal((await again.get(`${via}/dir/`)).status, 401)
  })

  it('are revoked when the owner is deactivated', async () => {
    const owner = await server.signUp()
    const id = await owner.createLibrary()
    const token = await libraryToken(owner, id)
    const link = (await token.get(`${via}/upload-link/`)).body
    const admin = await server.admin()
    await admin.put(`/api/v2.1/admin/users/${owner.email}/`, { form: { is_active: 'false' } })
    assert.deepEqual((await token.get(`${via}/dir/`)).body, inactive)
    const late = await postForm(link, [['parent_dir', '/'], { filename: 'x', bytes: 'x' }])
    assert.equal(late.status, 403)
    await admin.put(`/api/v2.1/admin/users/${owner.email}/`, { form: { is_active: 'true' } })
    assert.equal((await token.get(`${via}/dir/`)).status, 401)
  })
})
