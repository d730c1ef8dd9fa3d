import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import sharp from 'sharp'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import type { Shown } from './links-support.ts'
import { makeFolder, makeGroup, shareWith } from './sharing-support.ts'

/** In the names and contents around the shared file. Nothing that its recipient is sent may contain it. */
const CANARY = 'kingfisher'

describe('a single shared file', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  const items = (id: string) => `/api/v2.1/repos/${id}/file/shared-items/`
  const shareFile = async (owner: Client, id: string, p: string, form: Record<string, string | number>) => {
    const reply = await owner.put(items(id), { query: { p }, form })
    assert.deepEqual([reply.status, reply.body.failed], [200, []], reply.text)
    return reply.body.virtual_repo_id as string
  }

  /** A file between others in a folder of a library, shared with a friend. */
  async function begin(permission: 'r' | 'rw' = 'r') {
    const owner = await server.signUp()
    const friend = await server.signUp()
    const id = await owner.createLibrary(`Library ${CANARY}`)
    await makeFolder(owner, id, `/folder ${CANARY}/below ${CANARY}`)
    const folder = `/folder ${CANARY}`
    await uploadFile(owner, id, `${folder}/plan.txt`, 'the plan')
    await uploadFile(owner, id, `${folder}/${CANARY}.txt`, `about the ${CANARY}`)
    await uploadFile(owner, id, `${folder}/gone ${CANARY}.txt`, CANARY)
    await owner.delete(`/api/v2.1/repos/${id}/file/`, { query: { p: `${folder}/gone ${CANARY}.txt` } })
    const path = `${folder}/plan.txt`
    const form = { share_type: 'user', username: friend.email, permission }
    const view = await shareFile(owner, id, path, form)
    const unshare = () =>
      owner.delete(items(id), { query: { p: path, share_type: 'user', username: friend.email } })
    return { owner, friend, id, folder, path, view, unshare }
  }

  const download = async (client: Client, id: string, p: string): Promise<string> => {
    const reply = await client.get(`/api2/repos/${id}/file/`, { p, reuse: 1 })
    assert.equal(reply.status, 200, reply.text)
    return reply.body as string
  }
  const read = async (url: string) => {
    const response = await fetch(url)
    return [response.status, await response.text()]
  }
  const shared = async (client: Client) => (await client.get('/api/v2.1/shared-files/')).body

  it('is listed to its recipient and to its owner', async () => {
    const { owner, friend, id, path, view } = await begin()
    const { shared_with_me, shared_by_me } = await shared(friend)
    assert.equal(shared_by_me.length, 0)
    assert.deepEqual(
      shared_with_me.map((one: Record<string, unknown>) => [
        one.repo_id,
        one.path,
        one.file_name,
        one.size,
        one.permission,
        one.owner_email,
      ]),
      [[view, '/plan.txt', 'plan.txt', 8, 'r', owner.email]],
    )
    const out = (await shared(owner)).shared_by_me
    assert.deepEqual([out[0].repo_id, out[0].path, out[0].user_email], [id, path, friend.email])
    const { body } = await owner.get(items(id), { p: path })
    assert.deepEqual([body.length, body[0].user_info.name], [1, friend.email])
  })

  it('is not among the libraries and folders that existing clients list', async () => {
    const { owner, friend } = await begin('rw')
    assert.deepEqual((await friend.get('/api2/repos/')).body, [])
    assert.deepEqual((await friend.get('/api/v2.1/repos/')).body.repos, [])
    assert.deepEqual((await friend.get('/api2/beshared-repos/')).body, [])
    assert.deepEqual((await owner.get('/api/v2.1/shared-folders/')).body, [])
  })

  it('can be opened, and nothing beside it can be seen', async () => {
    const { friend, id, folder, view } = await begin('rw')
    const listing = await friend.get(`/api/v2.1/repos/${view}/dir/`, { p: '/', recursive: 1 })
    assert.deepEqual(
      listing.body.dirent_list.map((one: { name: string }) => one.name),
      ['plan.txt'],
    )
    assert.deepEqual(await read(await download(friend, view, '/plan.txt')), [200, 'the plan'])
    const v2 = `/api2/repos/${view}/`
    const v21 = `/api/v2.1/repos/${view}/`
    const answers = [
      await friend.get(v21),
      await friend.get(v2),
      await friend.get(`${v2}file/detail/`, { p: '/plan.txt' }),
      await friend.get(`${v2}file/history/`, { p: '/plan.txt' }),
      await friend.get(`${v21}file/new_history/`, { path: '/plan.txt' }),
      await friend.get(`${v21}history/`),
      await friend.get(`${v2}history/`),
      await friend.get(`${v21}trash/`, { path: '/' }),
      await friend.get(`${v21}dir/detail/`, { path: '/' }),
      await friend.get(`${v21}related-users/`),
      await friend.get(`${v21}share-info/`, { path: '/' }),
      await friend.get(`${v2}dir/`, { p: '/', t: 'd', recursive: 1 }),
      await friend.get('/api/v2.1/smart-link/', { repo_id: view, path: '/plan.txt', is_dir: 'false' }),
      await friend.get('/api/v2.1/activities/'),
      await friend.get('/api/v2.1/notifications/'),
      await friend.get('/api2/search/', { q: CANARY }),
      await friend.get('/api/v2.1/search-file/', { q: CANARY, repo_id: view }),
      await friend.get('/api/v2.1/trash/'),
    ]
    for (const { status, text, url } of answers as { status: number; text: string; url?: string }[]) {
      assert.ok(status < 500, `${url} ${status} ${text}`)
      assert.ok(!text.toLowerCase().includes(CANARY), `${url} ${text}`)
    }
    for (const p of [`/${CANARY}.txt`, `${folder}/${CANARY}.txt`, '/../x', `/plan.txt/${CANARY}.txt`]) {
      assert.ok((await friend.get(`${v2}file/`, { p, reuse: 1 })).status >= 400, p)
      assert.ok((await friend.get(`${v2}file/detail/`, { p })).status >= 400, p)
    }
    assert.equal((await friend.get(`/api2/repos/${id}/dir/`, { p: '/' })).status, 403)
    assert.equal((await friend.get(`/api2/repos/${id}/file/`, { p: `${folder}/plan.txt` })).status, 403)
  })

  it('is updated by a recipient who may write, as an edit of the library', async () => {
    const { owner, friend, id, path, view } = await begin('rw')
    const link = (await friend.get(`/api2/repos/${view}/update-link/`, { p: '/plan.txt' })).body as string
    const form = new FormData()
    form.set('target_file', '/plan.txt')
    form.set('file', new Blob(['a better plan']), 'plan.txt')
    const sent = await fetch(link, { method: 'POST', body: form })
    assert.equal(sent.status, 200, await sent.text())
    assert.deepEqual(await read(await download(owner, id, path)), [200, 'a better plan'])
    assert.deepEqual(await read(await download(friend, view, '/plan.txt')), [200, 'a better plan'])
    const upload = (await friend.get(`/api2/repos/${view}/upload-link/`, { p: '/' })).body as string
    const replacing = new FormData()
    replacing.set('parent_dir', '/')
    replacing.set('replace', '1')
    replacing.set('file', new Blob(['the best plan']), 'plan.txt')
    const replaced = await fetch(upload, { method: 'POST', body: replacing })
    assert.equal(replaced.status, 200, await replaced.text())
    assert.deepEqual(await read(await download(owner, id, path)), [200, 'the best plan'])
    const { body } = await owner.get(`/api2/repos/${id}/file/detail/`, { p: path })
    assert.equal(body.last_modifier_email, friend.email)
  })

  it('cannot be used to add, rename, move or delete anything', async () => {
    const { owner, friend, id, folder, view } = await begin('rw')
    const before = (await owner.get(`/api/v2.1/repos/${id}/`)).body.last_modified
    const names = async () =>
      (await owner.get(`/api/v2.1/repos/${id}/dir/`, { p: folder })).body.dirent_list.map(
        (one: { name: string }) => one.name,
      )
    const there = await names()
    const v2 = `/api2/repos/${view}/`
    const v21 = `/api/v2.1/repos/${view}/`
    const mine = await friend.createLibrary('Mine')
    await uploadFile(friend, mine, '/other.txt', 'other')
    const statuses = [
      await friend.post(`${v2}dir/`, { query: { p: '/new' }, form: { operation: 'mkdir' } }),
      await friend.post(`${v21}file/`, { query: { p: '/new.txt' }, form: { operation: 'create' } }),
      await friend.post(`${v21}file/`, {
        query: { p: '/plan.txt' },
        form: { operation: 'rename', newname: `${CANARY}.txt` },
      }),
      await friend.delete(`${v21}file/`, { query: { p: '/plan.txt' } }),
      await friend.delete(v2),
      await friend.post('/api/v2.1/repos/sync-batch-move-item/', {
        json: {
          src_repo_id: view,
          src_parent_dir: '/',
          src_dirents: ['plan.txt'],
          dst_repo_id: mine,
          dst_parent_dir: '/',
        },
      }),
      await friend.post('/api/v2.1/repos/sync-batch-copy-item/', {
        json: {
          src_repo_id: mine,
          src_parent_dir: '/',
          src_dirents: ['other.txt'],
          dst_repo_id: view,
          dst_parent_dir: '/',
        },
      }),
      await friend.post('/api/v2.1/share-links/', { json: { repo_id: view, path: '/plan.txt' } }),
      await friend.put(items(view), {
        query: { p: '/plan.txt' },
        form: { share_type: 'user', username: owner.email },
      }),
      await friend.get(`${v2}download-info/`),
    ].map(({ status, text }) => [status >= 400 && status < 500, text])
    assert.deepEqual(
      statuses.filter(([isRefused]) => !isRefused),
      [],
    )
    const upload = (await friend.get(`${v2}upload-link/`, { p: '/' })).body as string
    const form = new FormData()
    form.set('parent_dir', '/')
    form.set('file', new Blob(['x']), 'new.txt')
    assert.ok((await fetch(upload, { method: 'POST', body: form })).status >= 400)
    assert.deepEqual(await names(), there)
    assert.equal((await owner.get(`/api/v2.1/repos/${id}/`)).body.last_modified, before)
  })

  it('can be copied by its recipient to another library', async () => {
    const { friend, view } = await begin()
    const mine = await friend.createLibrary('Copies')
    const copied = await friend.post('/api/v2.1/repos/sync-batch-copy-item/', {
      json: {
        src_repo_id: view,
        src_parent_dir: '/',
        src_dirents: ['plan.txt'],
        dst_repo_id: mine,
        dst_parent_dir: '/',
      },
    })
    assert.equal(copied.status, 200, copied.text)
    assert.deepEqual(await read(await download(friend, mine, '/plan.txt')), [200, 'the plan'])
  })

  it('is read-only for a recipient who may read', async () => {
    const { friend, view } = await begin('r')
    assert.equal((await friend.get(`/api2/repos/${view}/update-link/`, { p: '/plan.txt' })).status, 403)
    assert.equal((await friend.get(`/api2/repos/${view}/upload-link/`, { p: '/' })).status, 403)
  })

  it('follows renames and moves, and ends when the file is deleted', async () => {
    const { owner, friend, id, folder, view } = await begin()
    const v21 = `/api/v2.1/repos/${id}/file/`
    const renamed = await owner.post(v21, {
      query: { p: `${folder}/plan.txt` },
      form: { operation: 'rename', newname: 'draft.txt' },
    })
    assert.equal(renamed.status, 200, renamed.text)
    assert.deepEqual(await read(await download(friend, view, '/draft.txt')), [200, 'the plan'])
    assert.equal((await shared(friend)).shared_with_me[0].file_name, 'draft.txt')
    await owner.delete(v21, { query: { p: `${folder}/draft.txt` } })
    assert.equal((await friend.get(`/api2/repos/${view}/dir/`, { p: '/' })).status, 404)
    assert.deepEqual((await shared(friend)).shared_with_me, [])
    // A new file of that name is another file.
    await uploadFile(owner, id, `${folder}/draft.txt`, 'another')
    assert.deepEqual((await shared(friend)).shared_with_me, [])
  })

  it('is refused at once when the share ends, also to a ticket', async () => {
    const { friend, view, unshare } = await begin('rw')
    const url = await download(friend, view, '/plan.txt')
    const update = (await friend.get(`/api2/repos/${view}/update-link/`, { p: '/plan.txt' })).body as string
    assert.equal((await read(url))[0], 200)
    assert.equal((await unshare()).status, 200)
    assert.equal((await friend.get(`/api2/repos/${view}/dir/`, { p: '/' })).status, 403)
    assert.ok(Number((await read(url))[0]) >= 400)
    const form = new FormData()
    form.set('target_file', '/plan.txt')
    form.set('file', new Blob(['x']), 'plan.txt')
    assert.ok((await fetch(update, { method: 'POST', body: form })).status >= 400)
    assert.deepEqual((await shared(friend)).shared_with_me, [])
  })

  it('is found by search, in the timeline of photos and among the stars, until the share ends', async () => {
    const { owner, friend, id, folder, view, unshare } = await begin()
    const pixels = { width: 60, height: 40, channels: 3 as const, background: '#3366cc' }
    for (const name of ['sunset.jpg', `${CANARY}.jpg`]) {
      await uploadFile(owner, id, `${folder}/${name}`, await sharp({ create: pixels }).jpeg().toBuffer())
    }
    const to = { share_type: 'user', username: friend.email }
    const photo = `${folder}/sunset.jpg`
    const picture = await shareFile(owner, id, photo, { ...to, permission: 'r' })
    const starring = { json: { repo_id: view, path: '/plan.txt' } }
    assert.equal((await friend.post('/api/v2.1/starred-items/', starring)).status, 200)
    await eventually(async () => {
      for (const q of ['about', 'the plan', 'sunset'])
        assert.equal((await owner.get('/api2/search/', { q })).body.total, 1, q)
    })
    await server.running.services.photos.settled()
    const found = async (q: string, place = 'all') => {
      const { body, text } = await friend.get('/api2/search/', { q, search_repo: place })
      assert.ok(Array.isArray(body.results), text)
      return body.results.map((one: Shown) => [one.repo_id, one.fullpath, one.repo_name])
    }
    const elsewhere = async () => ({
      photos: (await friend.get('/api/v2.1/photos/')).body.photos.map((one: Shown) => [
        one.repo_id,
        one.path,
      ]),
      days: (await friend.get('/api/v2.1/photos/days/')).body.days.length,
      stars: (await friend.get('/api/v2.1/starred-items/')).body.starred_item_list.map(
        (one: Shown) => one.path,
      ),
    })
    const plan = [[view, '/plan.txt', 'plan.txt']]
    for (const [q, place] of [['plan'], ['the plan'], ['plan', 'shared'], ['plan', view]] as const)
      assert.deepEqual(await found(q, place), plan, `${q} ${place}`)
    assert.deepEqual(await found('plan', 'mine'), [])
    assert.deepEqual(await elsewhere(), { photos: [[picture, '/sunset.jpg']], days: 1, stars: ['/plan.txt'] })
    for (const q of [CANARY, 'below', 'folder', 'about']) assert.deepEqual(await found(q), [], q)
    // In a folder that is shared as well, the file is seen there, once.
    const around = await shareWith(owner, id, friend, { path: folder, permission: 'r' })
    assert.deepEqual(await found('plan'), [[around, '/plan.txt', folder.slice(1)]])
    assert.equal((await elsewhere()).photos.length, 2)
    const asFolder = `/api2/repos/${id}/dir/shared_items/`
    assert.equal((await owner.delete(asFolder, { query: { p: folder, ...to } })).status, 200)
    assert.deepEqual(await found('plan'), plan)
    await unshare()
    await owner.delete(items(id), { query: { p: photo, ...to } })
    for (const q of ['plan', 'the plan', 'sunset']) assert.deepEqual(await found(q), [], q)
    assert.deepEqual(await elsewhere(), { photos: [], days: 0, stars: [] })
    assert.equal((await friend.get('/api2/search/', { q: 'plan', search_repo: view })).status, 403)
  })

  it('reaches the members of a group, until it expires', async () => {
    const { owner, id, path, view } = await begin()
    const member = await server.signUp()
    const group = await makeGroup('Readers', owner, member)
    const form = { share_type: 'group', group_id: group, permission: 'r', expire_days: 1 }
    assert.equal(await shareFile(owner, id, path, form), view)
    assert.equal((await shared(member)).shared_with_me[0].group_name, 'Readers')
    assert.deepEqual(await read(await download(member, view, '/plan.txt')), [200, 'the plan'])
    const sql = "update share set expires_at = 1 where grantee = 'group' and grantee_key = ?"
    await server.running.services.db.write((tx) => tx.run(sql, group))
    assert.equal((await member.get(`/api2/repos/${view}/dir/`, { p: '/' })).status, 403)
    assert.deepEqual((await shared(member)).shared_with_me, [])
  })

  it('is not shared for managing, nor as a folder', async () => {
    const { owner, friend, id, folder, path } = await begin()
    const to = { share_type: 'user', username: friend.email }
    const admin = await owner.put(items(id), { query: { p: path }, form: { ...to, permission: 'admin' } })
    assert.equal(admin.status, 400)
    assert.equal((await owner.put(items(id), { query: { p: folder }, form: to })).status, 404)
    const asFolder = `/api2/repos/${id}/dir/shared_items/`
    assert.equal((await owner.put(asFolder, { query: { p: path }, form: to })).status, 404)
  })

  it('is marked in the folder for those who manage shares, like folders and links there', async () => {
    const { owner, friend, id, folder, path, unshare } = await begin()
    const marked = async () => {
      const reply = await owner.get(`/api/v2.1/repos/${id}/shared-entries/`, { path: folder })
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    }
    assert.deepEqual(await marked(), { shared: [path], linked: [] })
    const below = `${folder}/below ${CANARY}`
    await shareWith(owner, id, friend, { path: below })
    await owner.post('/api/v2.1/share-links/', { json: { repo_id: id, path: `${folder}/${CANARY}.txt` } })
    await owner.post('/api/v2.1/share-links/', { json: { repo_id: id, path: folder } })
    await unshare()
    assert.deepEqual(await marked(), { shared: [below], linked: [`${folder}/${CANARY}.txt`] })
    const top = await owner.get(`/api/v2.1/repos/${id}/shared-entries/`, { path: '/' })
    assert.deepEqual(top.body, { shared: [], linked: [folder] })
    assert.equal((await friend.get(`/api/v2.1/repos/${id}/shared-entries/`, { path: '/' })).status, 403)
  })
})
