import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DirId, EMPTY_ID, type LibraryId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import type { Client } from '../support/client.ts'
import { commitRoot } from '../support/replace-root.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  eventually,
  namesIn,
  postForm,
  storedBytes,
  updateLink,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'
import { makeFolder, refused, shareWith, unshare } from './sharing-support.ts'

let server: TestServer
let ann: Client
let bob: Client
before(async () => {
  server = await startServer()
  ann = await server.signUp()
  bob = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

/** A library with `/a/in.txt`, `/ab/out.txt` and `/top.txt`, whose `/a` Bob may write. */
async function shared(permission = 'rw') {
  const id = await ann.createLibrary('Plans')
  await uploadFile(ann, id, '/a/in.txt', 'inside')
  await uploadFile(ann, id, '/ab/out.txt', 'outside')
  await uploadFile(ann, id, '/top.txt', 'top')
  const sub = await shareWith(ann, id, bob, { path: '/a', permission })
  return { id, sub }
}

async function download(client: Client, id: string, path: string): Promise<string> {
  const link = await client.get(`/api2/repos/${id}/file/`, { p: path })
  assert.equal(link.status, 200, link.text)
  const reply = await fetch(link.body)
  assert.equal(reply.status, 200)
  return reply.text()
}

describe('a shared folder', () => {
  it('is a library of its own', async () => {
    const { id, sub } = await shared()
    assert.notEqual(sub, id)
    const detail = (await bob.get(`/api2/repos/${sub}/`)).body
    const { name, owner, permission, size, file_count, type } = detail
    assert.deepEqual(
      { name, owner, permission, size, file_count, type },
      { name: 'a', owner: 'share', permission: 'rw', size: 6, file_count: 1, type: 'repo' },
    )
    const newer = (await bob.get(`/api/v2.1/repos/${sub}/`)).body
    assert.deepEqual([newer.repo_name, newer.is_virtual, newer.owner_email], ['a', true, ann.email])
    const again = (await bob.get(`/api2/repos/${sub}/`)).body
    assert.equal(again.head_commit_id, detail.head_commit_id)
    await uploadFile(ann, id, '/a/more.txt', 'more')
    const later = (await bob.get(`/api2/repos/${sub}/`)).body
    assert.notEqual(later.head_commit_id, detail.head_commit_id)
    assert.deepEqual([later.size, later.file_count], [10, 2])
    assert.deepEqual(await namesIn(bob, sub), ['in.txt', 'more.txt'])
  })

  it('gives access to nothing else of the library', async () => {
    const { id, sub } = await shared()
    refused(await bob.get(`/api2/repos/${id}/dir/`), 403, 'Permission denied.')
    for (const p of [
      '/..',
      '/../top.txt',
      '/a',
      '/b',
      '/../ab',
      'b/out.txt',
      '/b/out.txt',
      '/top.txt',
      '/..%2ftop.txt',
    ]) {
      assert.equal((await bob.get(`/api2/repos/${sub}/dir/`, { p })).status, 404, p)
      assert.equal((await bob.get(`/api2/repos/${sub}/file/detail/`, { p })).status, 404, p)
      assert.equal((await bob.get(`/api2/repos/${sub}/file/`, { p })).status, 404, p)
      assert.equal((await bob.delete(`/api/v2.1/repos/${sub}/dir/`, { query: { p } })).status, 404, p)
    }
    assert.deepEqual(await namesIn(ann, id), ['a/', 'ab/', 'top.txt'])
  })

  it('is changed by every call that changes a library', async () => {
    const { id, sub } = await shared()
    await makeFolder(bob, sub, '/docs/deep')
    await uploadFile(bob, sub, '/docs/deep/x.txt', 'x')
    assert.equal((await storedBytes(server, id, '/a/docs/deep/x.txt')).toString(), 'x')
    assert.equal(await download(bob, sub, '/docs/deep/x.txt'), 'x')
    const created = await bob.post(`/api/v2.1/repos/${sub}/file/`, {
      query: { p: '/new.txt' },
      form: { operation: 'create' },
    })
    assert.deepEqual([created.status, created.body.repo_id], [200, sub])
    const renamed = await bob.post(`/api/v2.1/repos/${sub}/file/`, {
      query: { p: '/new.txt' },
      form: { operation: 'rename', newname: 'named.txt' },
    })
    assert.equal(renamed.status, 200, renamed.text)
    const batch = { src_repo_id: sub, src_parent_dir: '/', dst_repo_id: sub, dst_parent_dir: '/docs' }
    const moved = await bob.post('/api/v2.1/repos/sync-batch-move-item/', {
      json: { ...batch, src_dirents: ['named.txt'] },
    })
    assert.equal(moved.status, 200, moved.text)
    const copied = await bob.post('/api/v2.1/repos/sync-batch-copy-item/', {
      json: { ...batch, src_dirents: ['in.txt'] },
    })
    assert.equal(copied.status, 200, copied.text)
    assert.deepEqual(await namesIn(ann, id, '/a/docs'), ['deep/', 'in.txt', 'named.txt'])
    const link = await updateLink(bob, sub)
    const updated = await postForm(link, [
      ['target_file', '/in.txt'],
      { filename: 'in.txt', bytes: 'changed' },
    ])
    assert.equal(updated.status, 200, updated.text)
    assert.equal((await storedBytes(server, id, '/a/in.txt')).toString(), 'changed')
    const gone = await bob.delete(`/api/v2.1/repos/${sub}/dir/`, { query: { p: '/docs' } })
    assert.equal(gone.status, 200, gone.text)
    assert.deepEqual(await namesIn(ann, id, '/a'), ['in.txt'])
    assert.deepEqual(await namesIn(ann, id), ['a/', 'ab/', 'top.txt'])
    const [entry] = (await ann.get(`/api2/repos/${id}/history/`)).body.commits
    assert.equal(entry.creator_name, bob.email)
  })

  it('is moved to and from its origin, and not into itself', async () => {
    const { id, sub } = await shared()
    await makeFolder(ann, id, '/a/deep')
    const call = (kind: string, json: object) =>
      ann.post(`/api/v2.1/repos/sync-batch-${kind}-item/`, { json })
    const into = await call('move', {
      src_repo_id: id,
      src_parent_dir: '/',
      src_dirents: ['top.txt'],
      dst_repo_id: sub,
      dst_parent_dir: '/deep',
    })
    assert.equal(into.status, 200, into.text)
    assert.deepEqual(await namesIn(bob, sub, '/deep'), ['top.txt'])
    const out = await call('copy', {
      src_repo_id: sub,
      src_parent_dir: '/deep',
      src_dirents: ['top.txt'],
      dst_repo_id: id,
      dst_parent_dir: '/',
    })
    assert.equal(out.status, 200, out.text)
    const itself = await call('move', {
      src_repo_id: id,
      src_parent_dir: '/',
      src_dirents: ['a'],
      dst_repo_id: sub,
      dst_parent_dir: '/deep',
    })
    refused(itself, 400, 'Can not move folder /a to its subfolder /a/deep')
    assert.deepEqual(await namesIn(ann, id), ['a/', 'ab/', 'top.txt'])
    assert.deepEqual(await namesIn(ann, id, '/a'), ['deep/', 'in.txt'])
  })

  it('works with tasks and archives', async () => {
    const { sub } = await shared()
    const mine = await bob.createLibrary('Mine')
    const started = await bob.post('/api/v2.1/repos/async-batch-move-item/', {
      json: {
        src_repo_id: sub,
        src_parent_dir: '/',
        src_dirents: ['in.txt'],
        dst_repo_id: mine,
        dst_parent_dir: '/',
      },
    })
    assert.equal(started.status, 200, started.text)
    await eventually(async () => {
      const query = { task_id: started.body.task_id }
      assert.equal((await bob.get('/api/v2.1/query-copy-move-progress/', query)).body.successful, true)
    })
    assert.deepEqual([await namesIn(bob, sub), await namesIn(bob, mine)], [[], ['in.txt']])
    await uploadFile(bob, sub, '/z/packed.txt', 'packed')
    const zip = await bob.post(`/api/v2.1/repos/${sub}/zip-task/`, {
      form: { parent_dir: '/', dirents: 'z' },
    })
    assert.equal(zip.status, 200, zip.text)
    await eventually(async () => {
      const progress = (await bob.get('/api/v2.1/query-zip-progress/', { token: zip.body.zip_token })).body
      assert.deepEqual([progress.zipped, progress.total], [1, 1])
    })
    assert.equal((await fetch(`${server.url}/seafhttp/zip/${zip.body.zip_token}`)).status, 200)
  })

  it('follows its folder, and is deleted with it', async () => {
    const { id, sub } = await shared()
    const link = await uploadLink(bob, sub)
    const renamed = await ann.post(`/api2/repos/${id}/dir/`, {
      query: { p: '/a' },
      form: { operation: 'rename', newname: 'b' },
    })
    assert.equal(renamed.status, 200, renamed.text)
    assert.equal((await bob.get(`/api2/repos/${sub}/`)).body.name, 'b')
    await makeFolder(ann, id, '/a')
    await makeFolder(ann, id, '/deep')
    const moved = await ann.post('/api/v2.1/repos/sync-batch-move-item/', {
      json: {
        src_repo_id: id,
        src_parent_dir: '/',
        src_dirents: ['b'],
        dst_repo_id: id,
        dst_parent_dir: '/deep',
      },
    })
    assert.equal(moved.status, 200, moved.text)
    const uploaded = await postForm(link, [['parent_dir', '/'], { filename: 'late.txt', bytes: 'late' }])
    assert.equal(uploaded.status, 200, uploaded.text)
    assert.deepEqual(await namesIn(ann, id, '/deep/b'), ['in.txt', 'late.txt'])
    assert.deepEqual(await namesIn(ann, id, '/a'), [])
    const gone = await ann.delete(`/api/v2.1/repos/${id}/dir/`, { query: { p: '/deep' } })
    assert.equal(gone.status, 200, gone.text)
    assert.equal((await bob.get(`/api2/repos/${sub}/`)).status, 404)
    const list = (await bob.get('/api2/repos/', { type: 'shared' })).body
    assert.ok(!list.some((entry: { id: string }) => entry.id === sub))
    const back = await ann.post(`/api/v2.1/repos/${id}/trash/revert-dirents/`, {
      form: { commit_id: gone.body.commit_id, path: '/deep' },
    })
    assert.deepEqual(back.body.failed, [], back.text)
    assert.equal((await bob.get(`/api2/repos/${sub}/`)).status, 404)
  })

  it('is not written to at the old path while its folder is being renamed', async () => {
    const { id, sub } = await shared()
    const rename = (from: string, to: string) =>
      ann.post(`/api2/repos/${id}/dir/`, { query: { p: from }, form: { operation: 'rename', newname: to } })
    const writes = Array.from({ length: 12 }, (_, index) =>
      uploadFile(bob, sub, `/f${index}.txt`, `${index}`),
    )
    const renames = (async () => {
      for (let index = 0; index < 4; index++) {
        await rename('/a', 'moved')
        await makeFolder(ann, id, '/a')
        await rename('/a', `other${index}`)
        await rename('/moved', 'a')
      }
    })()
    await Promise.all([...writes, renames])
    assert.equal((await namesIn(bob, sub)).length, 13)
    for (let index = 0; index < 4; index++) assert.deepEqual(await namesIn(ann, id, `/other${index}`), [])
  })

  it('shows no history from before the share, and nothing of other folders', async () => {
    const id = await ann.createLibrary('Plans')
    await uploadFile(ann, id, '/a/secret.txt', 'secret')
    const removed = await ann.delete(`/api/v2.1/repos/${id}/file/`, { query: { p: '/a/secret.txt' } })
    await uploadFile(ann, id, '/a/in.txt', 'one')
    const sub = await shareWith(ann, id, bob, { path: '/a' })
    await uploadFile(ann, id, '/private.txt', 'private')
    await uploadFile(ann, id, '/a/in.txt', 'two', { replace: true })
    await uploadFile(ann, id, '/a/gone.txt', 'gone')
    const deletion = await bob.delete(`/api/v2.1/repos/${sub}/file/`, { query: { p: '/gone.txt' } })
    assert.equal(deletion.status, 200, deletion.text)

    const history = (await bob.get(`/api/v2.1/repos/${sub}/history/`)).body
    assert.deepEqual(
      history.data.map((entry: { description: string }) => entry.description),
      ['Deleted "gone.txt"', 'Added "gone.txt".', 'Added "in.txt".'],
    )
    const [newest] = history.data
    const detail = (await bob.get(`/api/v2.1/repos/${sub}/commits/${newest.commit_id}/`)).body
    assert.deepEqual(detail.commit_diffs, [{ op_type: 'removed', path: '/gone.txt', new_path: '' }])
    const whole = (await ann.get(`/api/v2.1/repos/${id}/history/`)).body.data
    const hidden = whole.find((entry: { description: string }) => entry.description.includes('private'))
    refused(
      await bob.get(`/api/v2.1/repos/${sub}/commits/${hidden.commit_id}/`),
      404,
      `Commit ${hidden.commit_id} not found.`,
    )
    const trash = (await bob.get(`/api/v2.1/repos/${sub}/trash/`)).body
    assert.deepEqual(
      trash.data.map((item: { parent_dir: string; obj_name: string }) => item.parent_dir + item.obj_name),
      ['/gone.txt'],
    )
    const early = removed.body.commit_id
    const stolen = await bob.post(`/api/v2.1/repos/${sub}/trash/revert-dirents/`, {
      form: { commit_id: early, path: '/secret.txt' },
    })
    assert.deepEqual(stolen.body.success, [], stolen.text)
    assert.equal((await bob.get(`/api2/repos/${sub}/dir/`, { commit_id: early })).status, 404)
    const restored = await bob.post(`/api/v2.1/repos/${sub}/trash/revert-dirents/`, {
      form: { commit_id: trash.data[0].commit_id, path: '/gone.txt' },
    })
    assert.deepEqual(restored.body.failed, [], restored.text)
    assert.deepEqual(await namesIn(ann, id, '/a'), ['gone.txt', 'in.txt'])

    const revisions = (await bob.get(`/api/v2.1/repos/${sub}/file/history/`, { path: '/in.txt' })).body
    assert.deepEqual(
      revisions.data.map((one: { path: string }) => one.path),
      ['/in.txt', '/in.txt'],
    )
    const old = revisions.data[1].commit_id
    const link = await bob.get(`/api2/repos/${sub}/file/revision/`, { p: '/in.txt', commit_id: old })
    assert.equal(await (await fetch(link.body)).text(), 'one')
    const reverted = await bob.put(`/api2/repos/${sub}/file/revert/`, {
      form: { p: '/in.txt', commit_id: old },
    })
    assert.equal(reverted.status, 200, reverted.text)
    assert.equal((await storedBytes(server, id, '/a/in.txt')).toString(), 'one')
  })

  it('shows a file from its state at the time of the share on, and nothing before', async () => {
    const id = await ann.createLibrary('Plans')
    await uploadFile(ann, id, '/a/in.txt', 'too early')
    await uploadFile(ann, id, '/a/in.txt', 'shared', { replace: true })
    await uploadFile(ann, id, '/a/secret.txt', 'secret')
    const removed = await ann.delete(`/api/v2.1/repos/${id}/file/`, { query: { p: '/a/secret.txt' } })
    const sub = await shareWith(ann, id, bob, { path: '/a' })
    const path = '/in.txt'
    const { data } = (await bob.get(`/api/v2.1/repos/${sub}/file/history/`, { path })).body
    assert.deepEqual(
      data.map((one: { path: string; description: string }) => [one.path, one.description]),
      [['/in.txt', 'Modified "in.txt"']],
    )
    assert.deepEqual((await bob.get(`/api/v2.1/repos/${sub}/history/`)).body.data, [])
    const whole = (await ann.get(`/api/v2.1/repos/${id}/file/history/`, { path: '/a/in.txt' })).body.data
    const early = { p: path, commit_id: whole[1].commit_id }
    assert.equal((await bob.get(`/api2/repos/${sub}/file/revision/`, early)).status, 404)
    const now = { p: path, commit_id: data[0].commit_id }
    const link = await bob.get(`/api2/repos/${sub}/file/revision/`, now)
    assert.equal(await (await fetch(link.body)).text(), 'shared')
    const head = (await ann.get(`/api2/repos/${id}/`)).body.head_commit_id
    for (const commit of [head, removed.body.commit_id]) {
      assert.equal((await bob.get(`/api/v2.1/repos/${sub}/commits/${commit}/`)).status, 404)
      const secret = { p: '/secret.txt', commit_id: commit }
      assert.equal((await bob.get(`/api2/repos/${sub}/file/revision/`, secret)).status, 404)
    }
    // Another file that gets the path later gives no access to the previous one.
    const rename = { query: { p: '/in.txt' }, form: { operation: 'rename', newname: 'secret.txt' } }
    assert.equal((await bob.post(`/api/v2.1/repos/${sub}/file/`, rename)).status, 200)
    const stolen = { p: '/secret.txt', commit_id: removed.body.commit_id }
    assert.equal((await bob.get(`/api2/repos/${sub}/file/revision/`, stolen)).status, 404)
    const reverted = await bob.put(`/api2/repos/${sub}/file/revert/`, { form: stolen })
    assert.equal(reverted.status, 404, reverted.text)
    const listed = (await bob.get(`/api/v2.1/repos/${sub}/file/history/`, { path: '/secret.txt' })).body.data
    assert.deepEqual(
      listed.map((one: { path: string }) => one.path),
      ['/secret.txt', '/in.txt'],
    )
  })

  it('shows the history of a file from its arrival in the folder', async () => {
    const { id, sub } = await shared()
    await uploadFile(ann, id, '/ab/out.txt', 'outside still', { replace: true })
    const moved = await ann.post('/api/v2.1/repos/sync-batch-move-item/', {
      json: {
        src_repo_id: id,
        src_parent_dir: '/ab',
        src_dirents: ['out.txt'],
        dst_repo_id: id,
        dst_parent_dir: '/a',
      },
    })
    assert.equal(moved.status, 200, moved.text)
    await uploadFile(bob, sub, '/out.txt', 'inside now', { replace: true })
    const page = (await bob.get(`/api/v2.1/repos/${sub}/file/new_history/`, { path: '/out.txt' })).body
    assert.equal(page.total_count, 2, JSON.stringify(page))
    assert.ok(!JSON.stringify(page).includes('/ab'))
    const whole = (await ann.get(`/api/v2.1/repos/${id}/file/new_history/`, { path: '/a/out.txt' })).body
    assert.equal(whole.total_count, 4)
    const rename = { query: { p: '/a' }, form: { operation: 'rename', newname: 'z' } }
    assert.equal((await ann.post(`/api2/repos/${id}/dir/`, rename)).status, 200)
    const after = (await bob.get(`/api/v2.1/repos/${sub}/file/history/`, { path: '/in.txt' })).body
    assert.ok(
      after.data.every((one: { path: string }) => one.path === '/in.txt'),
      JSON.stringify(after),
    )
  })

  it('has the locks, stars and smart links of the library', async () => {
    const { id, sub } = await shared()
    const locked = await bob.put(`/api2/repos/${sub}/file/`, { form: { operation: 'lock', p: '/in.txt' } })
    assert.equal(locked.status, 200, locked.text)
    const seen = (await ann.get(`/api/v2.1/repos/${id}/dir/`, { p: '/a' })).body.dirent_list[0]
    assert.deepEqual([seen.is_locked, seen.lock_owner], [true, bob.email])
    const here = (await bob.get(`/api/v2.1/repos/${sub}/dir/`, { p: '/' })).body.dirent_list[0]
    assert.deepEqual([here.is_locked, here.locked_by_me], [true, true])
    const blocked = await ann.delete(`/api/v2.1/repos/${id}/file/`, { query: { p: '/a/in.txt' } })
    assert.equal(blocked.status, 423, blocked.text)
    const unlocked = await bob.put(`/api2/repos/${sub}/file/`, {
      form: { operation: 'unlock', p: '/in.txt' },
    })
    assert.equal(unlocked.status, 200, unlocked.text)

    for (const path of ['/', '/in.txt']) {
      const star = await bob.post('/api/v2.1/starred-items/', { form: { repo_id: sub, path } })
      assert.equal(star.status, 200, star.text)
    }
    const items = (await bob.get('/api/v2.1/starred-items/')).body.starred_item_list
    assert.deepEqual(
      items.map((item: { repo_id: string; path: string; obj_name: string }) => [
        item.repo_id,
        item.path,
        item.obj_name,
      ]),
      [
        [sub, '/', 'a'],
        [sub, '/in.txt', 'in.txt'],
      ],
    )
    assert.deepEqual((await ann.get('/api/v2.1/starred-items/')).body.starred_item_list, [])
    const [listed] = (await bob.get('/api/v2.1/repos/', { type: 'shared' })).body.repos.filter(
      (repo: { repo_id: string }) => repo.repo_id === sub,
    )
    assert.equal(listed.starred, true)
    const unstarred = await bob.delete('/api/v2.1/starred-items/', {
      query: { repo_id: sub, path: '/in.txt' },
    })
    assert.equal(unstarred.status, 200, unstarred.text)

    const link = (await bob.get('/api/v2.1/smart-link/', { repo_id: sub, path: '/in.txt', is_dir: 'false' }))
      .body
    const token = link.smart_link_token
    assert.deepEqual((await bob.get(`/api/v2.1/smart-links/${token}/`)).body, {
      repo_id: sub,
      path: '/in.txt',
      is_dir: false,
    })
    assert.deepEqual((await ann.get(`/api/v2.1/smart-links/${token}/`)).body, {
      repo_id: id,
      path: '/a/in.txt',
      is_dir: false,
    })
    const stranger = await server.signUp()
    assert.equal((await stranger.get(`/api/v2.1/smart-links/${token}/`)).status, 403)
  })

  it('restricts tickets to it, and revokes them with the share', async () => {
    const { id, sub } = await shared()
    const upload = await uploadLink(bob, sub)
    const update = await updateLink(bob, sub)
    const file = (await bob.get(`/api2/repos/${sub}/file/`, { p: '/in.txt', reuse: 1 })).body
    for (const parent of ['/..', '/a', '/../ab', '/ab']) {
      const reply = await postForm(upload, [['parent_dir', parent], { filename: 'x.txt', bytes: 'x' }])
      assert.ok([400, 403].includes(reply.status), `${parent} ${reply.status}`)
    }
    const outside = await postForm(update, [
      ['target_file', '/../top.txt'],
      { filename: 'top.txt', bytes: 'x' },
    ])
    assert.ok([400, 403, 440, 441].includes(outside.status), outside.text)
    assert.equal((await fetch(file)).status, 200)
    await unshare(ann, id, bob, '/a')
    assert.equal((await fetch(file)).status, 403)
    const late = await postForm(upload, [['parent_dir', '/'], { filename: 'x.txt', bytes: 'x' }])
    assert.equal(late.status, 403, late.text)
    const replaced = await postForm(update, [['target_file', '/in.txt'], { filename: 'in.txt', bytes: 'x' }])
    assert.equal(replaced.status, 403, replaced.text)
    refused(await bob.get(`/api/v2.1/repos/${sub}/`), 403, 'Permission denied.')
    assert.deepEqual(await namesIn(ann, id, '/a'), ['in.txt'])
    assert.equal((await storedBytes(server, id, '/top.txt')).toString(), 'top')
  })

  it('serves blocks of its own files only', async () => {
    const { id, sub } = await shared()
    const blocks = async (path: string) => {
      const reply = await ann.get(`/api2/repos/${id}/file/`, { p: path, op: 'downloadblks' })
      return reply.body
    }
    const inside = await blocks('/a/in.txt')
    const outside = await blocks('/ab/out.txt')
    const ask = (who: Client, library: string, file: { file_id: string; blklist: string[] }) =>
      who.get(`/api2/repos/${library}/files/${file.file_id}/blks/${file.blklist[0]}/download-link/`)
    assert.equal((await ask(bob, sub, inside)).status, 200)
    assert.equal((await ask(bob, sub, outside)).status, 404)
    assert.equal((await ask(ann, id, outside)).status, 200)
  })

  it('resumes an upload by either id', async () => {
    const { sub } = await shared()
    const link = await uploadLink(bob, sub)
    const headers = {
      'Content-Range': 'bytes 0-3/8',
      'Content-Disposition': 'attachment; filename="big.bin"',
    }
    const first = await postForm(link, [['parent_dir', '/'], { filename: 'big.bin', bytes: 'half' }], {
      headers,
    })
    assert.equal(first.status, 200, first.text)
    const query = { parent_dir: '/', file_name: 'big.bin' }
    const asked = await bob.get(`/api/v2.1/repos/${sub}/file-uploaded-bytes/`, query)
    assert.deepEqual(asked.body, { uploadedBytes: 4 })
    const rest = { ...headers, 'Content-Range': 'bytes 4-7/8' }
    const second = await postForm(link, [['parent_dir', '/'], { filename: 'big.bin', bytes: 'done' }], {
      headers: rest,
    })
    assert.equal(second.status, 200, second.text)
    assert.equal(await download(bob, sub, '/big.bin'), 'halfdone')
  })

  it('belongs to nobody as a library', async () => {
    const { id, sub } = await shared('admin')
    for (const who of [ann, bob]) {
      refused(await who.get(`/api2/repos/${sub}/history-limit/`), 403, 'Permission denied.')
      refused(await who.get(`/api2/repos/${sub}/owner/`), 403, 'Permission denied.')
      refused(await who.delete(`/api2/repos/${sub}/`), 403, 'Permission denied.')
      refused(await who.delete(`/api/v2.1/repos/${sub}/`), 403, 'Permission denied.')
      refused(await who.delete(`/api/v2.1/repos/${sub}/trash/`), 403, 'Permission denied.')
      const form = { repo_name: 'mine' }
      refused(
        await who.post(`/api2/repos/${sub}/?op=rename`, { form }),
        403,
        'You do not have permission to rename this library.',
      )
      refused(
        await who.put(`/api2/repos/${sub}/owner/`, { form: { owner: bob.email } }),
        403,
        'Permission denied.',
      )
    }
    assert.deepEqual(await namesIn(ann, id), ['a/', 'ab/', 'top.txt'])
  })

  it('accepts a push of another tree, and leaves the rest of the origin alone', async () => {
    const { id, sub } = await shared()
    await makeFolder(ann, id, '/a/kept')
    await makeFolder(ann, id, '/a/dropped')
    const kept = await shareWith(ann, id, bob, { path: '/a/kept' })
    const dropped = await shareWith(ann, id, bob, { path: '/a/dropped' })
    const { access, accounts, core } = server.running.services
    const open = async (library: string) =>
      (await access.open(await accounts.get(bob.email), library as LibraryId)).editable(ROOT)
    const before = (await open(sub)).info.root
    await makeFolder(bob, sub, '/later')
    const gone = await bob.delete(`/api/v2.1/repos/${sub}/dir/`, { query: { p: '/dropped' } })
    assert.equal(gone.status, 200)
    const without = (await open(sub)).info.root
    assert.equal((await bob.get(`/api2/repos/${dropped}/`)).status, 404)
    const seen: string[] = []
    const root = async (now: DirId) => {
      seen.push(now)
      return before
    }
    await commitRoot(core, await open(sub), { description: 'Synced', root })
    assert.deepEqual(seen, [without])
    assert.deepEqual(await namesIn(bob, sub), ['dropped/', 'in.txt', 'kept/'])
    assert.deepEqual(await namesIn(ann, id), ['a/', 'ab/', 'top.txt'])
    assert.equal((await bob.get(`/api2/repos/${kept}/`)).status, 200)
    await commitRoot(core, await open(sub), { description: 'Synced', root: async () => EMPTY_ID })
    assert.deepEqual(await namesIn(bob, sub), [])
    assert.equal((await bob.get(`/api2/repos/${kept}/`)).status, 404)
    assert.deepEqual(await namesIn(ann, id), ['a/', 'ab/', 'top.txt'])
  })

  it('is deleted when its origin is reverted to a state without its folder', async () => {
    const id = await ann.createLibrary('Plans')
    const { head_commit_id } = (await ann.get(`/api2/repos/${id}/`)).body
    await makeFolder(ann, id, '/a')
    const sub = await shareWith(ann, id, bob, { path: '/a' })
    const reverted = await ann.post(`/api/v2.1/repos/${id}/commits/${head_commit_id}/revert/`)
    assert.equal(reverted.status, 200, reverted.text)
    await makeFolder(ann, id, '/a')
    assert.equal((await bob.get(`/api2/repos/${sub}/`)).status, 404)
  })

  it('merges with folders of its origin', async () => {
    const { id, sub } = await shared()
    await uploadFile(ann, id, '/x/a/other.txt', 'other')
    const merged = await ann.post('/api/v2.1/move-folder-merge/', {
      json: {
        src_repo_id: id,
        src_parent_dir: '/',
        src_dirent_name: 'ab',
        dst_repo_id: sub,
        dst_parent_dir: '/',
      },
    })
    assert.equal(merged.status, 200, merged.text)
    assert.deepEqual(await namesIn(bob, sub), ['ab/', 'in.txt'])
    assert.deepEqual(await namesIn(ann, id), ['a/', 'top.txt', 'x/'])
  })

  it('is created for syncing by any reader of the folder', async () => {
    const id = await ann.createLibrary('Plans')
    await makeFolder(ann, id, '/a/b')
    await shareWith(ann, id, bob, { permission: 'r' })
    const ask = (who: Client, query: Record<string, string>) =>
      who.get(`/api2/repos/${id}/dir/sub_repo/`, query)
    const made = await ask(bob, { p: '/a', name: 'a' })
    assert.equal(made.status, 200, made.text)
    const sub = made.body.sub_repo_id
    assert.equal((await ask(ann, { p: '/a/', name: 'other' })).body.sub_repo_id, sub)
    assert.equal((await bob.get(`/api2/repos/${sub}/`)).body.permission, 'r')
    assert.equal((await ann.get(`/api2/repos/${sub}/`)).body.permission, 'rw')
    const stranger = await server.signUp()
    assert.equal((await stranger.get(`/api2/repos/${sub}/`)).status, 403)
    refused(await ask(stranger, { p: '/a', name: 'a' }), 403, 'Permission denied.')
    refused(await ask(bob, { p: '/', name: 'a' }), 400, 'p invalid.')
    refused(await ask(bob, { p: '/a' }), 400, 'name invalid.')
    refused(await ask(bob, { name: 'a' }), 400, 'p invalid.')
    refused(await ask(bob, { p: '/none', name: 'a' }), 404, 'Folder /none/ not found.')
    const nested = await bob.get(`/api2/repos/${sub}/dir/sub_repo/`, { p: '/b', name: 'b' })
    const direct = await ask(ann, { p: '/a/b', name: 'b' })
    assert.equal(nested.body.sub_repo_id, direct.body.sub_repo_id)
  })
})
