import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { Dir } from '../../src/base/objects/dir.ts'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { encodeFile } from '../../src/base/objects/file.ts'
import type { BlockId, FileId } from '../../src/base/objects/ids.ts'
import type { CallOptions, Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { makeTree, packets, SyncClient, sha1 } from '../support/sync-client.ts'
import { postForm, updateLink, uploadFile } from '../support/transfer.ts'
import { shareWith, unshare } from './sharing-support.ts'

// Inside a shared folder, the id of an object outside of it must be answered like an unknown id (I7). Every
// route that reads an id is called with both, and the answers are compared.

/** Ids of objects outside of the folder: existing or unknown ones. */
interface Ids {
  readonly block: string
  readonly file: string
  readonly dir: string
  /** From before the folder was shared. */
  readonly commit: string
}

const OUTSIDE = 'not for ben, who was given one folder only'
const INSIDE = 'inside the folder'

let server: TestServer
let ann: Client
let ben: Client
let library: string
let sub: string
let sync: SyncClient
let outside: Ids

before(async () => {
  server = await startServer()
  ann = await server.signUp()
  ben = await server.signUp()
  library = await ann.createLibrary()
  await uploadFile(ann, library, '/team/in.txt', INSIDE)
  await uploadFile(ann, library, '/other/secret.txt', OUTSIDE)
  const { body } = await ann.get(`/api/v2.1/repos/${library}/history/`)
  const file = await ann.get(`/api2/repos/${library}/file/detail/`, { p: '/other/secret.txt' })
  const listed = await ann.get(`/api2/repos/${library}/dir/`, { p: '/' })
  const dir = listed.body.find((one: { name: string }) => one.name === 'other')
  outside = { block: sha1(OUTSIDE), file: file.body.id, dir: dir.id, commit: body.data[0].commit_id }
  await uploadFile(ann, library, '/team/more.txt', 'more')
  sub = await shareWith(ann, library, ben, { path: '/team' })
  sync = await SyncClient.link(ben, sub)
  await sync.clone()
})
after(() => server[Symbol.asyncDispose]())

function unknownIds(): Ids {
  const id = () => randomBytes(20).toString('hex')
  return { block: id(), file: id(), dir: id(), commit: id() }
}

type Ask = (ids: Ids) => Promise<Reply>

const api =
  (method: string, path: (ids: Ids) => string, options: (ids: Ids) => CallOptions = () => ({})): Ask =>
  (ids) =>
    ben.call(method, path(ids).replace('SUB', sub), options(ids))
const getAt = (path: string, more: Record<string, string> = {}): Ask =>
  api(
    'GET',
    () => path,
    (ids) => ({ query: { ...more, commit_id: ids.commit } }),
  )
const synced =
  (method: string, path: (ids: Ids) => string, body?: (ids: Ids) => string | Uint8Array): Ask =>
  (ids) =>
    sync.call(method, path(ids), body?.(ids))
const raw = (body: string): Uint8Array => Buffer.from(body)

async function blockLinks(): Promise<{ rawblksurl: string; commiturl: string }> {
  const reply = await ben.post(`/api2/repos/${sub}/upload-blks-link/`, { query: { p: '/' } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** Every way to commit a file that refers to a block. */
const commitOf = (ids: Ids, more: Record<string, string>) =>
  Object.entries({
    blockids: JSON.stringify([ids.block]),
    file_size: String(OUTSIDE.length),
    replace: '0',
    ...more,
  }).map(([name, value]) => [name, value] as const)

const routes: Record<string, Ask> = {
  'GET /api2/repo_history_changes/:repo_id/': getAt('/api2/repo_history_changes/SUB/'),
  'GET /api/v2.1/repos/:repo_id/commits/:commit_id/': api(
    'GET',
    ({ commit }) => `/api/v2.1/repos/SUB/commits/${commit}/`,
  ),
  'GET /api/v2.1/repos/:repo_id/commits/:commit_id/dir/': api(
    'GET',
    ({ commit }) => `/api/v2.1/repos/SUB/commits/${commit}/dir/`,
  ),
  'POST /api/v2.1/repos/:repo_id/commits/:commit_id/revert/': api(
    'POST',
    ({ commit }) => `/api/v2.1/repos/SUB/commits/${commit}/revert/`,
  ),
  'POST /api/v2.1/repos/:repo_id/trash2/revert/': api(
    'POST',
    () => '/api/v2.1/repos/SUB/trash2/revert/',
    ({ commit }) => ({ json: { [commit]: ['/in.txt', '/secret.txt'] } }),
  ),
  'POST /api/v2.1/repos/:repo_id/trash/revert-dirents/': api(
    'POST',
    () => '/api/v2.1/repos/SUB/trash/revert-dirents/',
    ({ commit }) => ({ form: { commit_id: commit, path: ['/in.txt'] } }),
  ),
  'GET /api2/repos/:repo_id/dir/': api(
    'GET',
    () => '/api2/repos/SUB/dir/',
    (ids) => ({ query: { oid: ids.dir, commit_id: ids.commit } }),
  ),
  'GET /api/v2.1/repos/:repo_id/dir/': getAt('/api/v2.1/repos/SUB/dir/'),
  'POST /api/v2.1/repos/:repo_id/dir/': api(
    'POST',
    () => '/api/v2.1/repos/SUB/dir/?p=/in.txt',
    ({ commit }) => ({ form: { operation: 'revert', commit_id: commit } }),
  ),
  'GET /api/v2.1/repos/:repo_id/dir/detail/': getAt('/api/v2.1/repos/SUB/dir/detail/', { path: '/' }),
  'GET /api2/repos/:repo_id/file/': getAt('/api2/repos/SUB/file/', { p: '/in.txt' }),
  'GET /api2/repos/:repo_id/file/detail/': getAt('/api2/repos/SUB/file/detail/', { p: '/in.txt' }),
  'GET /api/v2.1/repos/:repo_id/file/': getAt('/api/v2.1/repos/SUB/file/', { p: '/in.txt' }),
  'POST /api/v2.1/repos/:repo_id/file/': api(
    'POST',
    () => '/api/v2.1/repos/SUB/file/?p=/in.txt',
    ({ commit }) => ({ form: { operation: 'revert', commit_id: commit } }),
  ),
  'GET /api2/repos/:repo_id/file/revision/': getAt('/api2/repos/SUB/file/revision/', { p: '/secret.txt' }),
  'GET /api/v2.1/repos/:repo_id/file/history/': getAt('/api/v2.1/repos/SUB/file/history/', {
    path: '/more.txt',
  }),
  'GET /api/v2.1/repos/:repo_id/file/text/': getAt('/api/v2.1/repos/SUB/file/text/', { p: '/in.txt' }),
  'GET /api/v2.1/repos/:repo_id/file/archive-entries/': getAt('/api/v2.1/repos/SUB/file/archive-entries/', {
    p: '/in.txt',
  }),
  'PUT /api2/repos/:repo_id/file/revert/': api(
    'PUT',
    () => '/api2/repos/SUB/file/revert/',
    ({ commit }) => ({ form: { p: '/secret.txt', commit_id: commit } }),
  ),
  'PUT /api2/repos/:repo_id/dir/revert/': api(
    'PUT',
    () => '/api2/repos/SUB/dir/revert/',
    ({ commit }) => ({ form: { p: '/other', commit_id: commit } }),
  ),
  'POST /api/v2.1/repos/:repo_id/zip-task/': api(
    'POST',
    () => '/api/v2.1/repos/SUB/zip-task/',
    ({ commit }) => ({ form: { parent_dir: '/', dirents: ['in.txt'], commit_id: commit } }),
  ),
  'GET /api/v2.1/repos/:repo_id/zip-task/': getAt('/api/v2.1/repos/SUB/zip-task/', {
    parent_dir: '/',
    dirents: 'in.txt',
  }),
  'POST /api2/repos/:repo_id/upload-blks-link/': api(
    'POST',
    () => '/api2/repos/SUB/upload-blks-link/?p=/',
    ({ block }) => ({ form: { blklist: `${block},${sha1('nobody has this')}` } }),
  ),
  'GET /api2/repos/:repo_id/files/:file_id/blks/:block_id/download-link/': api(
    'GET',
    ({ file, block }) => `/api2/repos/SUB/files/${file}/blks/${block}/download-link/`,
  ),
  'PUT /seafhttp/repo/:repo_id/commit/HEAD': synced(
    'PUT',
    ({ commit }) => `commit/HEAD?head=${commit}`,
    () => '',
  ),
  'GET /seafhttp/repo/:repo_id/commit/:commit_id': synced('GET', ({ commit }) => `commit/${commit}`),
  'PUT /seafhttp/repo/:repo_id/commit/:commit_id': async (ids) => {
    // A commit whose parent is outside, with the root of the other folder.
    const commit = sync.makeCommit(ids.dir, ids.commit)
    const sent = await sync.putCommit(commit)
    assert.equal(sent.status, 200, sent.text)
    return sync.putHead(commit.id)
  },
  'GET /seafhttp/repo/:repo_id/fs-id-list/': async (ids) => {
    const known = await sync.call(
      'GET',
      `fs-id-list/?server-head=${await sync.head()}&client-head=${ids.commit}`,
    )
    const asked = await sync.call('GET', `fs-id-list/?server-head=${ids.commit}`)
    return { ...asked, text: known.text + asked.text }
  },
  'POST /seafhttp/repo/:repo_id/pack-fs/': synced(
    'POST',
    () => 'pack-fs/',
    ({ file }) => JSON.stringify([file]),
  ),
  'POST /seafhttp/repo/:repo_id/check-fs/': synced(
    'POST',
    () => 'check-fs/',
    ({ file, dir }) => JSON.stringify([file, dir]),
  ),
  'POST /seafhttp/repo/:repo_id/check-blocks/': synced(
    'POST',
    () => 'check-blocks/',
    ({ block }) => JSON.stringify([block]),
  ),
  'POST /seafhttp/repo/:repo_id/recv-fs/': async (ids) => {
    // A dir that refers to a file, then a file that refers to a block, which their sender never received.
    const file = encodeFile({ blockIds: [ids.block as BlockId], size: OUTSIDE.length })
    const first = await pushed(ids.file, new Map())
    const second = await pushed(sha1(file), new Map([[sha1(file), file]]))
    return { ...second, text: `${first.status} ${first.text} ${second.text}` }
  },
  'GET /seafhttp/repo/:repo_id/block/:block_id': synced('GET', ({ block }) => `block/${block}`),
  'PUT /seafhttp/repo/:repo_id/block/:block_id': synced(
    'PUT',
    ({ block }) => `block/${block}`,
    () => raw('other bytes'),
  ),
  'GET /seafhttp/repo/:repo_id/block-map/:file_id': synced('GET', ({ file }) => `block-map/${file}`),
  'GET /seafhttp/blks/:ticket/:block_id': async ({ block }) => {
    const detail = await ben.get(`/api2/repos/${sub}/file/detail/`, { p: '/in.txt' })
    const path = `/api2/repos/${sub}/files/${detail.body.id}/blks/${sha1(INSIDE)}/download-link/`
    const link = await ben.get(path)
    assert.equal(link.status, 200, link.text)
    const address = new URL(link.body).pathname.replace(sha1(INSIDE), block)
    return server.anonymous.get(address)
  },
  'POST /seafhttp/update-api/:ticket': (ids) => updateFrom(ids, 'update-api'),
  'POST /seafhttp/update-aj/:ticket': (ids) => updateFrom(ids, 'update-aj'),
  'POST /seafhttp/upload-raw-blks-api/:ticket': async ({ block }) =>
    postForm((await blockLinks()).rawblksurl, [{ filename: block, bytes: 'other bytes' }]),
  'POST /seafhttp/upload-blks-api/:ticket': async (ids) =>
    postForm((await blockLinks()).commiturl, commitOf(ids, { parent_dir: '/', file_name: 'stolen.txt' })),
  'POST /seafhttp/update-blks-api/:ticket': async (ids) => {
    const { body } = await ben.get(`/api2/repos/${sub}/update-blks-link/`, { p: '/' })
    return postForm(`${body}?commitonly=true`, commitOf(ids, { target_file: '/more.txt' }))
  },
}

/** The response to a push of one file, of which some objects are sent. */
async function pushed(id: string, objects: Map<string, Buffer>): Promise<Reply> {
  const dir = Dir.of([
    fileDirent({ id: id as FileId, name: 'x', size: OUTSIDE.length, mtime: 1, modifier: '' }),
  ])
  const sent = await sync.call('POST', 'recv-fs/', packets(new Map([...objects, [dir.id, dir.encoded()]])))
  assert.equal(sent.status, 200, sent.text)
  const commit = sync.makeCommit(dir.id, await sync.head())
  assert.equal((await sync.putCommit(commit)).status, 200)
  return sync.putHead(commit.id)
}

/** Restores a file by its stated base commit. */
async function updateFrom(ids: Ids, form: string): Promise<Reply> {
  const link = (await updateLink(ben, sub)).replace('update-api', form)
  return postForm(`${link}?head=${ids.commit}`, [
    ['target_file', '/gone.txt'],
    { filename: 'gone.txt', bytes: 'x' },
  ])
}

/** Parameters that are called ids and name no object, block or commit. */
const otherIds = new Set([
  'repo_id',
  'comment_id',
  'repo_tag_id',
  'file_tag_id',
  'src_repo_id',
  'dst_repo_id',
  'group_id',
  'device_id',
  'shib_device_id',
  'client_id',
  'login_id',
  'task_id',
  'notice_id',
  'webhook_id',
  'delivery_id',
  'user_id_list',
  'is_valid',
  'id',
])

/** Routes with such a parameter, or with a body of their own format, that take no object, block or commit id. */
const withoutIds: Record<string, string> = {
  'GET /api/v2.1/admin/audit-log/': 'for administrators of the server',
  'GET /api/v2.1/admin/audit-log/export/': 'for administrators of the server',
  'GET /api/v2.1/via-repo-token/dir/': 'a shared folder has no library tokens',
  'POST /api/v2.1/via-repo-token/dir/': 'a shared folder has no library tokens',
  'GET /api/v2.1/via-repo-token/file/': 'a shared folder has no library tokens',
  'POST /api/v2.1/via-repo-token/file/': 'a shared folder has no library tokens',
  'GET /api/v2.1/via-repo-token/download-link/': 'a shared folder has no library tokens',
  'DELETE /api/v2.1/sessions/:session_id/': 'the id of a session',
  'POST /seafhttp/repo/head-commits-multi/': 'returns nothing',
  'POST /seafhttp/repo/folder-perm': 'sync tokens in the body',
  'POST /seafhttp/repo/locked-files': 'sync tokens in the body',
  'POST /api/v2.1/items/': 'paths, and ids of libraries',
  'POST /api/v2.1/repos/:repo_id/file-tags/batch/': 'paths, and ids of tags',
  'PUT /seafhttp/repo/:repo_id/lock-file': 'a path',
  'PUT /seafhttp/repo/:repo_id/unlock-file': 'a path',
  'POST /seafhttp/upload-api/:ticket': 'a form with bytes',
  'POST /seafhttp/upload-aj/:ticket': 'a form with bytes',
  'GET /f/:token/': '`raw` is a choice',
  'GET /d/:token/files/': '`raw` is a choice',
}

function mayNameObjects(name: string): boolean {
  return name === 'raw' || (/id|commit|head$|bl(?:oc)?k|object|paths$/i.test(name) && !otherIds.has(name))
}

describe('the id of an object outside of a shared folder', () => {
  for (const [name, ask] of Object.entries(routes)) {
    it(`is answered like an unknown id by ${name}`, async () => {
      const unknown = unknownIds()
      const head = await ann.get(`/api2/repos/${library}/`)
      assert.equal(await shownOf(ask, outside), await shownOf(ask, unknown))
      const after = await ann.get(`/api2/repos/${library}/`)
      assert.equal(after.body.head_commit_id, head.body.head_commit_id, 'nothing was committed')
    })
  }

  it('is tested on every route that reads one', () => {
    const names = server.running.endpoints
      .filter(({ method, reads }) => method !== 'OPTIONS' && reads.some(mayNameObjects))
      .map(({ method, path }) => `${method} ${path}`)
      .filter((name) => !name.includes('/batch-'))
      // WebDAV takes ids only as entity tags, which it compares with that of the item.
      .filter((name) => !/ \/(?:seaf)?dav\/$/.test(name))
    const unlisted = names.filter((name) => !(name in routes) && !(name in withoutIds))
    assert.deepEqual(unlisted, [], 'add their responses inside a shared folder to this file')
    const gone = [...Object.keys(routes), ...Object.keys(withoutIds)].filter((name) => !names.includes(name))
    assert.deepEqual(gone, [], 'the route no longer exists')
  })

  it('cannot be used with a library token, as a shared folder has none', async () => {
    const reply = await ben.post(`/api/v2.1/repos/${sub}/repo-api-tokens/`, { form: { app_name: 'app' } })
    assert.equal(reply.status, 403)
    const owner = await ann.post(`/api/v2.1/repos/${sub}/repo-api-tokens/`, { form: { app_name: 'app' } })
    assert.equal(owner.status, 403)
  })
})

describe('blocks of a shared folder', () => {
  it('can be committed once they were uploaded into the folder', async () => {
    const id = sha1(OUTSIDE)
    const links = await blockLinks()
    const ids = { ...unknownIds(), block: id }
    const commit = () => postForm(links.commiturl, commitOf(ids, { parent_dir: '/', file_name: 'mine.txt' }))
    assert.equal((await commit()).status, 446)
    assert.equal((await postForm(links.rawblksurl, [{ filename: id, bytes: OUTSIDE }])).status, 200)
    const asked = await ben.post(`/api2/repos/${sub}/upload-blks-link/`, { form: { blklist: id } })
    assert.deepEqual(asked.body.blklist, [])
    assert.equal((await commit()).status, 200)
  })

  it('that a client received count as known', async () => {
    const asked = await ben.post(`/api2/repos/${sub}/upload-blks-link/`, {
      form: { blklist: `${sha1(INSIDE)},${sha1('nobody has this')}` },
    })
    assert.deepEqual(asked.body.blklist, [sha1('nobody has this')])
  })

  it('that were visible to others before are unknown to a new recipient of the share', async () => {
    const own = await ann.createLibrary()
    const old = 'what the folder held while it was shared with ben'
    await uploadFile(ann, own, '/team/old.txt', old)
    const first = await SyncClient.link(ben, await shareWith(ann, own, ben, { path: '/team' }))
    await first.clone()
    await unshare(ann, own, ben, '/team')
    await ann.delete(`/api/v2.1/repos/${own}/file/`, { query: { p: '/team/old.txt' } })
    const cid = await server.signUp()
    const again = await shareWith(ann, own, cid, { path: '/team' })
    const next = await SyncClient.link(cid, again)
    const { objects } = makeTree({ 'old.txt': old }, ann.email)
    const file = [...objects].find(([, json]) => json.includes('block_ids'))?.[0] ?? ''
    assert.equal((await next.call('GET', `block/${sha1(old)}`)).status, 500)
    assert.deepEqual((await next.call('POST', 'check-fs/', JSON.stringify([file]))).body, [file])
    const asked = await cid.post(`/api2/repos/${again}/upload-blks-link/`, { form: { blklist: sha1(old) } })
    assert.deepEqual(asked.body.blklist, [sha1(old)])
  })
})

describe('a list of ids', () => {
  const many = (count: number) => Array.from({ length: count }, () => randomBytes(20).toString('hex'))

  it('is limited to 10,000', async () => {
    const ask = (ids: string[]) =>
      ann.post(`/api2/repos/${library}/upload-blks-link/`, { form: { blklist: ids.join(',') } })
    assert.equal((await ask(many(10_000))).status, 200)
    const refused = await ask(many(10_001))
    assert.deepEqual([refused.status, refused.body], [400, { error_msg: 'blklist invalid.' }])
    for (const call of ['check-fs/', 'check-blocks/', 'pack-fs/']) {
      const reply = await sync.call('POST', call, JSON.stringify(many(10_001)))
      assert.equal(reply.status, 400, call)
    }
  })
})

/** The part of a response that the client sees, without values that differ between requests. */
async function shownOf(ask: Ask, ids: Ids): Promise<string> {
  const { status, text } = await ask(ids)
  let shown = text
  for (const [name, id] of Object.entries(ids)) shown = shown.replaceAll(id, name)
  return `${status} ${shown.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ticket')}`
}
