import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { CallOptions, Client, Params } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, postForm, uploadFile, uploadLink } from '../support/transfer.ts'
import { makeGroup, refused, shareWith, shareWithGroup, unshare } from './sharing-support.ts'

let server: TestServer
let ann: Client
let reader: Client
let stranger: Client
let id: string
let sub: string
let commit: string
let webhook: number
before(async () => {
  server = await startServer()
  ann = await server.signUp()
  reader = await server.signUp()
  stranger = await server.signUp()
  id = await ann.createLibrary('Plans')
  await uploadFile(ann, id, '/in.txt', 'one')
  // The same names in the folder, so that no call stops early because there is nothing to do.
  await uploadFile(ann, id, '/docs/in.txt', 'two')
  await uploadFile(ann, id, '/docs/docs/deep.txt', 'three')
  await uploadFile(ann, id, '/gone.txt', 'gone')
  const gone = await ann.delete(`/api/v2.1/repos/${id}/file/`, { query: { p: '/gone.txt' } })
  commit = gone.body.commit_id
  const hook = await ann.post(`/api/v2.1/repos/${id}/webhooks/`, { form: { url: 'https://example.org/' } })
  webhook = hook.body.webhook.id
  await ann.post(`/api/v2.1/repos/${id}/repo-api-tokens/`, { form: { app_name: 'app', permission: 'r' } })
  await shareWith(ann, id, reader, { permission: 'r' })
  sub = await shareWith(ann, id, reader, { path: '/docs', permission: 'r' })
})
after(() => server[Symbol.asyncDispose]())

/** Calls other than GET that a reader may make: they change nothing, or only the reader's own data. */
const READING = new Set([
  'POST /api/v2.1/repos/:repo_id/set-password/',
  'DELETE /api/v2.1/repos/:repo_id/set-password/',
  'DELETE /api/v2.1/monitored-repos/:repo_id/',
  'POST /api/v2.1/repos/:repo_id/trash/',
  'POST /api/v2.1/repos/:repo_id/zip-task/',
  'DELETE /api2/beshared-repos/:repo_id/',
  // Readers comment, and choose who is notified of comments.
  'POST /api2/repos/:repo_id/file/comments/',
  'POST /api/v2.1/repos/:repo_id/file/participants/',
  'DELETE /api/v2.1/repos/:repo_id/file/participant/',
])
/** Input that would have an effect with sufficient permission. */
const inputs: Record<string, () => { query?: Params; form?: Params; json?: unknown }> = {
  'POST /api2/repos/:repo_id/': () => ({ query: { op: 'rename' }, form: { repo_name: 'Mine' } }),
  'POST /api2/repos/:repo_id/dir/': () => ({ query: { p: '/new' }, form: { operation: 'mkdir' } }),
  'POST /api/v2.1/repos/:repo_id/dir/': () => ({ query: { p: '/new' }, form: { operation: 'mkdir' } }),
  'DELETE /api2/repos/:repo_id/dir/': () => ({ query: { p: '/' } }),
  'DELETE /api/v2.1/repos/:repo_id/dir/': () => ({ query: { p: '/docs' } }),
  'POST /api2/repos/:repo_id/file/': () => ({
    query: { p: '/in.txt' },
    form: { operation: 'rename', newname: 'x.txt' },
  }),
  'POST /api/v2.1/repos/:repo_id/file/': () => ({ query: { p: '/new.txt' }, form: { operation: 'create' } }),
  'PUT /api2/repos/:repo_id/file/': () => ({ form: { operation: 'lock', p: '/in.txt' } }),
  'PUT /api/v2.1/repos/:repo_id/file/': () => ({ query: { p: '/in.txt' }, form: { operation: 'lock' } }),
  'PUT /api2/repos/:repo_id/file/revert/': () => ({ form: { p: '/gone.txt', commit_id: commit } }),
  'PUT /api2/repos/:repo_id/dir/revert/': () => ({ form: { p: '/docs', commit_id: commit } }),
  'PUT /api2/repos/:repo_id/dir/shared_items/': () => ({
    query: { p: '/' },
    form: { share_type: 'user', username: stranger.email, permission: 'rw' },
  }),
  'POST /api2/repos/:repo_id/dir/shared_items/': () => ({
    query: { p: '/', share_type: 'user', username: reader.email },
    form: { permission: 'rw' },
  }),
  'DELETE /api2/repos/:repo_id/dir/shared_items/': () => ({
    query: { p: '/', share_type: 'user', username: reader.email },
  }),
  'PUT /api/v2.1/repos/:repo_id/file/shared-items/': () => ({
    query: { p: '/in.txt' },
    form: { share_type: 'user', username: stranger.email, permission: 'rw' },
  }),
  'POST /api/v2.1/repos/:repo_id/file/shared-items/': () => ({
    query: { p: '/in.txt', share_type: 'user', username: reader.email },
    form: { permission: 'rw' },
  }),
  'DELETE /api/v2.1/repos/:repo_id/file/shared-items/': () => ({
    query: { p: '/in.txt', share_type: 'user', username: reader.email },
  }),
  'POST /api/v2.1/repos/:repo_id/file/extract-archive/': () => ({
    json: { p: '/in.txt', dst_repo_id: id, dst_parent_dir: '/' },
  }),
  'POST /api/v2.1/repos/:repo_id/repo-tags/': () => ({ form: { name: 'theirs', color: '#ff8000' } }),
  'PUT /api/v2.1/repos/:repo_id/repo-tags/:repo_tag_id/': () => ({
    form: { name: 'theirs', color: '#ff8000' },
  }),
  'POST /api/v2.1/repos/:repo_id/repo-tags/:repo_tag_id/merge/': () => ({ form: { into: 2 } }),
  'POST /api/v2.1/repos/:repo_id/file-tags/': () => ({ form: { file_path: '/in.txt', repo_tag_id: 1 } }),
  'POST /api/v2.1/repos/:repo_id/file-tags/batch/': () => ({
    json: { file_paths: ['/in.txt'], add: [1] },
  }),
  'POST /api/v2.1/repos/:repo_id/file/participants/': () => ({
    json: { path: '/in.txt', emails: [stranger.email] },
  }),
  'DELETE /api/v2.1/repos/:repo_id/file/participant/': () => ({
    form: { path: '/in.txt', email: reader.email },
  }),
  'POST /api2/repos/:repo_id/fileops/delete/': () => ({ query: { p: '/' }, form: { file_names: 'in.txt' } }),
  'POST /api/v2.1/repos/:repo_id/trash/revert-dirents/': () => ({
    form: { commit_id: commit, path: '/gone.txt' },
  }),
  'POST /api/v2.1/repos/:repo_id/trash2/actions/revert/': () => ({ json: { action: '1-1' } }),
  'POST /api/v2.1/repos/:repo_id/trash2/revert/': () => ({ json: { [commit]: ['/gone.txt'] } }),
  'PUT /api/v2.1/shared-repos/:repo_id/': () => ({
    form: { share_type: 'personal', user: reader.email, permission: 'rw' },
  }),
  'DELETE /api/v2.1/shared-repos/:repo_id/': () => ({
    query: { share_type: 'personal', user: reader.email },
  }),
  'PUT /api2/shared-repos/:repo_id/': () => ({
    query: { share_type: 'personal', user: stranger.email, permission: 'rw' },
  }),
  'DELETE /api2/shared-repos/:repo_id/': () => ({ query: { share_type: 'personal', user: reader.email } }),
  'POST /api/v2.1/repos/:repo_id/set-password/': () => ({ form: { password: 'a password' } }),
  'PUT /api/v2.1/repos/:repo_id/set-password/': () => ({
    form: { old_password: 'a password', new_password: 'another one' },
  }),
  'POST /api/v2.1/repos/:repo_id/webhooks/': () => ({ form: { url: 'https://example.org/theirs' } }),
  'PUT /api/v2.1/repos/:repo_id/webhooks/:webhook_id/': () => ({
    form: { url: 'https://example.org/theirs' },
  }),
  'POST /api/v2.1/repos/:repo_id/repo-api-tokens/': () => ({ form: { app_name: 'theirs' } }),
  'PUT /api/v2.1/repos/:repo_id/repo-api-tokens/:app_name/': () => ({ form: { permission: 'rw' } }),
  'PUT /api2/repos/:repo_id/file/shared-link/': () => ({ form: { p: '/', share_type: 'upload' } }),
  'PUT /seafhttp/repo/:repo_id/commit/HEAD': () => ({ query: { head: commit } }),
  'POST /api2/repos/:repo_id/upload-blks-link/': () => ({ query: { p: '/' }, form: { blklist: '' } }),
}

/** For calls without input of their own: every field such calls might need. */
const anything = (): { query?: Params; form?: Params; json?: unknown } => ({
  query: { p: '/in.txt', path: '/in.txt' },
  form: {
    owner: stranger.email,
    keep_days: 1,
    dst_repo: id,
    dst_dir: '/docs',
    file_names: 'in.txt',
    parent_dir: '/',
    dirents: 'docs',
  },
})

async function writingRoutes(): Promise<string[]> {
  const routes = server.running.endpoints.filter(
    ({ method, path }) => path.includes(':repo_id') && !['GET', 'OPTIONS'].includes(method),
  )
  return routes.map(({ method, path }) => `${method} ${path}`)
}

function send(who: Client, name: string, library: string) {
  const [method = '', path = ''] = name.split(' ')
  const url = path
    .replace(':repo_id', library)
    .replace(':commit_id', commit)
    .replace(':group_id', '1')
    .replace(':webhook_id', String(webhook))
    .replace(':delivery_id', randomUUID())
    .replace(':app_name', 'app')
  const options: CallOptions = (inputs[name] ?? anything)()
  return who.call(method, url, options)
}

async function state(): Promise<string> {
  const parts = [
    await ann.get(`/api2/repos/${id}/`),
    await ann.get(`/api2/repos/${id}/dir/`, { recursive: 1 }),
    await ann.get(`/api2/repos/${id}/dir/shared_items/`),
    await ann.get(`/api2/repos/${id}/dir/shared_items/`, { p: '/docs' }),
    await ann.get(`/api2/repos/${id}/history-limit/`),
    await ann.get(`/api/v2.1/repos/${id}/trash/`),
    await ann.get(`/api2/repos/${id}/owner/`),
    await ann.get(`/api/v2.1/repos/${id}/webhooks/`),
    await ann.get(`/api/v2.1/repos/${id}/repo-api-tokens/`),
  ]
  assert.ok(parts.every(({ status }) => status === 200))
  return parts.map(({ text }) => text).join('\n')
}

describe('every call that changes a library', () => {
  it('is rejected without access and with read permission, and changes nothing', async () => {
    const before = await state()
    const names = await writingRoutes()
    assert.ok(names.length > 35, String(names.length))
    const wrong: string[] = []
    for (const name of names) {
      for (const [who, library] of [
        [stranger, id],
        [stranger, sub],
        [reader, id],
        [reader, sub],
      ] as const) {
        if (who === reader && READING.has(name)) continue
        const reply = await send(who, name, library)
        const isNo = [403, 404].includes(reply.status)
        // For an account without a share the response is that there is nothing to leave.
        const isLeave = name.includes('beshared') && reply.status === 400
        const kind = `${who === reader ? 'reader' : 'stranger'} ${library === sub ? 'folder' : 'library'}`
        if (!isNo && !isLeave) wrong.push(`${name} ${kind}: ${reply.status} ${reply.text}`)
      }
    }
    assert.deepEqual(wrong, [])
    assert.equal(await state(), before)
  })

  it('is also rejected where the library is named in the body', async () => {
    const mine = await reader.createLibrary('Mine')
    await uploadFile(reader, mine, '/mine.txt', 'mine')
    const before = await state()
    const selection = { src_parent_dir: '/', src_dirents: ['in.txt'], dst_parent_dir: '/' }
    const calls: [path: string, method: string, json: object][] = [
      ['sync-batch-move-item/', 'POST', { ...selection, src_repo_id: id, dst_repo_id: mine }],
      ['async-batch-move-item/', 'POST', { ...selection, src_repo_id: id, dst_repo_id: mine }],
      [
        'sync-batch-copy-item/',
        'POST',
        { ...selection, src_dirents: ['mine.txt'], src_repo_id: mine, dst_repo_id: id },
      ],
      [
        'async-batch-copy-item/',
        'POST',
        { ...selection, src_dirents: ['mine.txt'], src_repo_id: mine, dst_repo_id: id },
      ],
      ['batch-delete-item/', 'DELETE', { repo_id: id, parent_dir: '/', dirents: ['in.txt'] }],
      [
        'batch-rename-item/',
        'POST',
        { repo_id: id, parent_dir: '/', dirents: ['in.txt'], new_names: ['out.txt'] },
      ],
    ]
    for (const [path, method, json] of calls) {
      const reply = await reader.call(method, `/api/v2.1/repos/${path}`, { json })
      assert.equal(reply.status, 403, `${path} ${reply.text}`)
    }
    const made = await reader.post('/api/v2.1/repos/batch-create-dir/', {
      json: { repo_id: id, paths: ['/new'] },
    })
    assert.ok(made.status === 403 || made.body.success.length === 0, made.text)
    const batch = await reader.post('/api/v2.1/repos/batch/', {
      form: {
        operation: 'share',
        repo_id: id,
        share_type: 'user',
        username: stranger.email,
        permission: 'rw',
      },
    })
    assert.deepEqual(batch.body.success, [])
    for (const link of ['upload-link', 'update-link']) {
      const reply = await reader.get(`/api2/repos/${id}/${link}/`)
      assert.equal(reply.status, 403, reply.text)
    }
    // A reader may copy out of it.
    const copied = await reader.post('/api/v2.1/repos/sync-batch-copy-item/', {
      json: { ...selection, src_repo_id: id, dst_repo_id: mine },
    })
    assert.equal(copied.status, 200, copied.text)
    assert.equal(await state(), before)
  })
})

describe('a revoked permission', () => {
  it('ends at once, also during requests', async () => {
    const writer = await server.signUp()
    const library = await ann.createLibrary('Busy')
    await uploadFile(ann, library, '/a.txt', 'a')
    await shareWith(ann, library, writer)
    const upload = await uploadLink(writer, library)
    const file = (await writer.get(`/api2/repos/${library}/file/`, { p: '/a.txt', reuse: 1 })).body
    const zip = await writer.post(`/api/v2.1/repos/${library}/zip-task/`, {
      form: { parent_dir: '/', dirents: 'a.txt' },
    })
    assert.equal(zip.status, 200, zip.text)
    const star = await writer.post('/api/v2.1/starred-items/', { form: { repo_id: library, path: '/a.txt' } })
    assert.equal(star.status, 200)
    assert.equal((await fetch(file)).status, 200)
    await unshare(ann, library, writer)
    assert.equal((await fetch(file)).status, 403)
    assert.equal((await fetch(`${server.url}/seafhttp/zip/${zip.body.zip_token}`)).status, 403)
    const late = await postForm(upload, [['parent_dir', '/'], { filename: 'b.txt', bytes: 'b' }])
    assert.equal(late.status, 403, late.text)
    assert.deepEqual((await writer.get('/api/v2.1/starred-items/')).body.starred_item_list, [])
    assert.deepEqual((await writer.get('/api2/repos/', { type: 'shared' })).body, [])
    assert.equal((await writer.get('/api2/repo-tokens/', { repos: library })).text, '{}')
    assert.deepEqual(await namesIn(ann, library), ['a.txt'])
  })

  it('is reduced at once', async () => {
    const writer = await server.signUp()
    const library = await ann.createLibrary('Busy')
    await shareWith(ann, library, writer)
    const upload = await uploadLink(writer, library)
    const narrowed = await ann.post(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/', share_type: 'user', username: writer.email },
      form: { permission: 'r' },
    })
    assert.deepEqual(narrowed.body, { success: true })
    const late = await postForm(upload, [['parent_dir', '/'], { filename: 'b.txt', bytes: 'b' }])
    assert.equal(late.status, 403, late.text)
    assert.deepEqual(await namesIn(writer, library), [])
  })

  it('ends with the group membership that granted it', async () => {
    const writer = await server.signUp()
    const library = await ann.createLibrary('Busy')
    const group = await makeGroup('Writers', ann, writer)
    await shareWithGroup(ann, library, group)
    const upload = await uploadLink(writer, library)
    await uploadFile(writer, library, '/mine.txt', 'mine')
    const removed = await ann.delete(`/api/v2.1/groups/${group}/members/${writer.email}/`)
    assert.deepEqual(removed.body, { success: true })
    const late = await postForm(upload, [['parent_dir', '/'], { filename: 'b.txt', bytes: 'b' }])
    assert.equal(late.status, 403, late.text)
    refused(await writer.get(`/api2/repos/${library}/dir/`), 403, 'Permission denied.')
    assert.deepEqual((await writer.get('/api2/repos/', { type: 'group' })).body, [])
  })

  it('ends with the account that had it', async () => {
    const admin = await server.admin()
    const leaver = await server.signUp({ email: 'leaver@example.org' })
    const library = await ann.createLibrary('Busy')
    await shareWith(ann, library, leaver)
    const theirs = await leaver.createLibrary('Theirs')
    await shareWith(leaver, theirs, ann)
    assert.equal((await admin.delete('/api/v2.1/admin/users/leaver@example.org/')).status, 200)
    assert.deepEqual((await ann.get(`/api2/repos/${library}/dir/shared_items/`)).body, [])
    assert.equal((await ann.get(`/api2/repos/${theirs}/`)).status, 404)
    const again = await server.signUp({ email: 'leaver@example.org' })
    assert.equal((await again.get(`/api2/repos/${library}/`)).status, 403)
    assert.deepEqual((await again.get('/api2/repos/')).body, [])
  })
})
