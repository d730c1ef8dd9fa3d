import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { fileId } from '../../src/base/objects/file.ts'
import { type BlockId, type LibraryId, sha1Hex } from '../../src/base/objects/ids.ts'
import { type LibraryPath, ROOT } from '../../src/base/paths/paths.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { insertObjects, prepareFile } from '../../src/libraries/tree/object-store.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

const time = 1_754_000_000

interface Counted {
  readonly current: number
  readonly trash: number
  readonly history: number
  readonly unreferenced: number
  readonly shared: number
  readonly total: number
}

const nothing: Counted = { current: 0, trash: 0, history: 0, unreferenced: 0, shared: 0, total: 0 }

describe('the stored bytes of a library', () => {
  let server: TestServer
  let user: Client
  let clock = time
  before(async () => {
    server = await startServer({ now: () => clock })
    user = await server.signUp()
  })
  after(() => server[Symbol.asyncDispose]())

  const usage = async (library: string, client = user): Promise<Counted> => {
    const reply = await client.get(`/api/v2.1/repos/${library}/usage/`)
    assert.equal(reply.status, 200, reply.text)
    const { repo_id: id, is_current: isCurrent, computed_at: at, blocks, ...bytes } = reply.body
    assert.deepEqual([id, isCurrent, at], [library, true, '2025-07-31T22:13:20+00:00'])
    assert.equal(typeof blocks, 'number')
    return bytes
  }
  const put = (library: string, path: string, bytes: number | Buffer, replace = false) =>
    uploadFile(user, library, path, typeof bytes === 'number' ? randomBytes(bytes) : bytes, { replace })

  it('are counted by reason', async () => {
    const library = await user.createLibrary()
    assert.deepEqual(await usage(library), nothing)
    await put(library, '/a.bin', 1000)
    await put(library, '/docs/b.bin', 2000)
    assert.deepEqual(await usage(library), { ...nothing, current: 3000, total: 3000 })
    await put(library, '/a.bin', 4000, true)
    assert.deepEqual(await usage(library), { ...nothing, current: 6000, history: 1000, total: 7000 })
    await user.delete(`/api/v2.1/repos/${library}/dir/?p=/docs`)
    const deleted = { ...nothing, current: 4000, trash: 2000, history: 1000, total: 7000 }
    assert.deepEqual(await usage(library), deleted)
    // Unreachable blocks await garbage collection.
    await user.delete(`/api/v2.1/repos/${library}/trash/`)
    const cleaned = { ...nothing, current: 4000, unreferenced: 3000, total: 7000 }
    assert.deepEqual(await usage(library), cleaned)
  })

  it('count a block once, for its first reason', async () => {
    const library = await user.createLibrary()
    const bytes = randomBytes(5000)
    await put(library, '/one.bin', bytes)
    await put(library, '/two.bin', bytes)
    assert.deepEqual(await usage(library), { ...nothing, current: 5000, total: 5000 })
    await user.delete(`/api/v2.1/repos/${library}/file/?p=/one.bin`)
    assert.deepEqual(await usage(library), { ...nothing, current: 5000, total: 5000 })
    await user.delete(`/api/v2.1/repos/${library}/file/?p=/two.bin`)
    assert.deepEqual(await usage(library), { ...nothing, trash: 5000, total: 5000 })
  })

  it('report what another library shares', async () => {
    const [first, second] = [await user.createLibrary(), await user.createLibrary()]
    await put(first, '/a.bin', 3000)
    await put(first, '/b.bin', 500)
    const copy = {
      src_repo_id: first,
      src_parent_dir: '/',
      src_dirents: ['a.bin'],
      dst_repo_id: second,
      dst_parent_dir: '/',
    }
    await user.post('/api/v2.1/repos/sync-batch-copy-item/', { json: copy })
    assert.deepEqual(await usage(second), { ...nothing, current: 3000, shared: 3000, total: 3000 })
    assert.deepEqual(await usage(first), { ...nothing, current: 3500, shared: 3000, total: 3500 })
  })

  it('follow the retention of the history', async () => {
    const library = await user.createLibrary()
    await put(library, '/a.bin', 1000)
    await put(library, '/a.bin', 2000, true)
    await user.delete(`/api/v2.1/repos/${library}/file/?p=/a.bin`)
    assert.deepEqual(await usage(library), { ...nothing, trash: 2000, history: 1000, total: 3000 })
    await user.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
    assert.deepEqual(await usage(library), { ...nothing, unreferenced: 3000, total: 3000 })
    await user.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: -1 } })
    assert.deepEqual(await usage(library), { ...nothing, trash: 2000, history: 1000, total: 3000 })
  })

  it('are visible to its owner and administrators', async () => {
    const library = await user.createLibrary()
    await put(library, '/a.bin', 10)
    const admin = await server.admin()
    assert.equal((await usage(library, admin)).current, 10)
    const stranger = await server.signUp()
    const path = `/api/v2.1/repos/${library}/usage/`
    assert.deepEqual((await stranger.get(path)).body, { error_msg: 'Permission denied.' })
    for (const owner of [user, admin]) {
      const token = await personalToken(owner, { permission: 'rw' })
      assert.equal((await token.get(path)).status, 403)
    }
    const unknown = '00000000-0000-4000-8000-000000000000'
    for (const client of [user, admin]) {
      assert.equal((await client.get(`/api/v2.1/repos/${unknown}/usage/`)).status, 404)
    }
  })

  it('are summed up for accounts, including deleted libraries, and for the server', async () => {
    const owner = await server.signUp()
    const mine = async (client: Client, path: string, bytes: number) => {
      const id = await client.createLibrary()
      await uploadFile(client, id, path, randomBytes(bytes))
      return id
    }
    await mine(owner, '/a.bin', 70_000)
    await mine(owner, '/b.bin', 20_000)
    const gone = await mine(owner, '/c.bin', 9000)
    await owner.delete(`/api2/repos/${gone}/`)
    const { usage: counted, statistics, core } = server.running.services
    await counted.refresh()
    // Once a day; the server did it for this day when it started.
    clock += 86_400
    await statistics.recordStored(counted)
    clock = time
    const admin = await server.admin()
    const reply = await admin.get('/api/v2.1/admin/usage/', { per_page: 1 })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.body.accounts, [
      {
        email: owner.email,
        name: owner.email.split('@')[0],
        repos_count: 2,
        file_size: 90_000,
        ...nothing,
        current: 90_000,
        total: 90_000,
        deleted: 9000,
        uncounted_repos: 0,
      },
    ])
    assert.deepEqual(reply.body.page_info, { has_next_page: true, current_page: 1 })
    const blocks = await dbOf(core).all<{ size: number }>('select distinct block_id, size from library_block')
    const stored = blocks.reduce((sum, { size }) => sum + size, 0)
    assert.deepEqual(reply.body.stored, {
      bytes: stored,
      blocks: blocks.length,
      day: '2025-08-01T00:00:00+00:00',
    })
  })

  it('are listed for the libraries of the caller, the largest first, and stale ones are counted again', async () => {
    const owner = await server.signUp()
    const [small, large] = [await owner.createLibrary('Small'), await owner.createLibrary('Large')]
    await uploadFile(owner, small, '/a.bin', randomBytes(100))
    const content = randomBytes(4000)
    for (const path of ['/a.bin', '/copy.bin']) await uploadFile(owner, large, path, content)
    const gone = await owner.createLibrary('Gone')
    await uploadFile(owner, gone, '/b.bin', randomBytes(700))
    await owner.delete(`/api2/repos/${gone}/`)
    const own = async (query = {}) => {
      const reply = await owner.get('/api/v2.1/account/usage/', query)
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    }
    const first = await own()
    assert.deepEqual([first.repos_count, first.file_size, first.uncounted_repos], [2, 8100, 3])
    const at = '2025-07-31T22:13:20+00:00'
    await eventually(async () => {
      const { libraries, page_info, ...sums } = await own()
      assert.deepEqual(libraries, [
        {
          repo_id: large,
          repo_name: 'Large',
          file_size: 8000,
          is_current: true,
          usage: { ...nothing, current: 4000, total: 4000, computed_at: at },
        },
        {
          repo_id: small,
          repo_name: 'Small',
          file_size: 100,
          is_current: true,
          usage: { ...nothing, current: 100, total: 100, computed_at: at },
        },
      ])
      assert.deepEqual(sums, {
        ...nothing,
        repos_count: 2,
        file_size: 8100,
        current: 4100,
        total: 4100,
        deleted: 0,
        uncounted_repos: 1,
      })
      assert.deepEqual(page_info, { has_next_page: false, current_page: 1 })
    })
    // A count stays until there is a newer one, and says that it is old.
    await server.running.services.usage.refresh()
    assert.deepEqual([(await own()).deleted, (await own()).uncounted_repos], [700, 0])
    await uploadFile(owner, small, '/more.bin', randomBytes(50))
    const stale = (await own()).libraries[1]
    assert.deepEqual([stale.repo_id, stale.file_size, stale.usage.current], [small, 150, 100])
    assert.equal(stale.is_current, false)
    await eventually(async () => assert.equal((await own()).libraries[1].usage.current, 150))
    const second = await own({ per_page: 1, page: 2 })
    assert.deepEqual(
      second.libraries.map(({ repo_id }: { repo_id: string }) => repo_id),
      [small],
    )
    assert.equal((await own({ per_page: 1 })).page_info.has_next_page, true)
    const stranger = await server.signUp()
    assert.deepEqual((await stranger.get('/api/v2.1/account/usage/')).body.libraries, [])
  })

  it('are explained by the largest folders and files', async () => {
    const library = await user.createLibrary('Explained')
    await put(library, '/docs/big.bin', 5000)
    await put(library, '/docs/deep/small.bin', 10)
    await put(library, '/docs/deep/huge.bin', 9000)
    await put(library, '/films/one.bin', 6000)
    await put(library, '/top.bin', 7000)
    await user.post(`/api/v2.1/repos/${library}/dir/?p=/Empty`, { form: { operation: 'mkdir' } })
    const address = `/api/v2.1/repos/${library}/dir/largest/`
    const largest = async (query = {}, client = user) => {
      const reply = await client.get(address, query)
      assert.equal(reply.status, 200, reply.text)
      const { entries, ...folder } = reply.body
      const found = entries.map((one: { path: string; size: number; file_count: number }) => [
        one.path,
        one.size,
        one.file_count,
      ])
      return { found, folder }
    }
    assert.deepEqual(await largest(), {
      found: [
        ['/docs', 14_010, 3],
        ['/top.bin', 7000, 1],
        ['/films', 6000, 1],
        ['/Empty', 0, 0],
      ],
      folder: { path: '/', size: 27_010, file_count: 5, is_complete: true },
    })
    assert.deepEqual((await largest({ path: '/docs', limit: 1 })).found, [['/docs/deep', 9010, 2]])
    assert.deepEqual((await largest({ below: '1', limit: 3 })).found, [
      ['/docs/deep/huge.bin', 9000, 1],
      ['/top.bin', 7000, 1],
      ['/films/one.bin', 6000, 1],
    ])
    assert.deepEqual((await largest({ below: '1', path: '/docs' })).found, [
      ['/docs/deep/huge.bin', 9000, 1],
      ['/docs/big.bin', 5000, 1],
      ['/docs/deep/small.bin', 10, 1],
    ])
    assert.equal((await user.get(address, { path: '/none' })).status, 404)
    assert.equal((await (await server.signUp()).get(address)).status, 403)
  })

  it('are explained by a part of a library that has more folders than a request looks at', async () => {
    const id = await user.createLibrary('Wide')
    const { access, accounts } = server.running.services
    const account = await accounts.findByLogin(user.email)
    assert.ok(account !== undefined)
    const library = (await access.open(account, id as LibraryId)).editable(ROOT)
    const object = { blockIds: [sha1Hex(Buffer.from('a block')) as BlockId], size: 5 }
    await library.commit(async (tree) => {
      for (let n = 0; n < 600; n++) {
        const folder = `/f${n}` as LibraryPath
        await tree.makeDirs(folder)
        for (const name of ['a.bin', 'b.bin'])
          await tree.put(
            folder,
            fileDirent({ id: fileId(object), name, mtime: tree.now, size: 5, modifier: '' }),
          )
      }
      const rows = [prepareFile(fileId(object), object)]
      return {
        description: 'Added many folders',
        result: undefined,
        also: (tx) => insertObjects(tx, library.info.key, rows),
      }
    })
    const largest = async (limit: number) => {
      const query = { below: '1', limit }
      const { body } = await user.get(`/api/v2.1/repos/${id}/dir/largest/`, query)
      return [body.entries.length, body.is_complete]
    }
    // No file is larger than what was found in the first folder that was opened.
    const folders = (await user.get(`/api/v2.1/repos/${id}/dir/largest/`, { limit: 3 })).body
    assert.deepEqual([folders.entries[0].size, folders.is_complete], [10, true])
    assert.deepEqual(await largest(500), [500, false])
    await user.post(`/api/v2.1/repos/${id}/dir/?p=/large`, { form: { operation: 'mkdir' } })
    await put(id, '/large/one.bin', 900)
    assert.deepEqual(await largest(1), [1, true])
  })

  it('and the file size are the same number on every page that names them', async () => {
    await using own = await startServer({ now: () => clock })
    const people = [await own.signUp(), await own.signUp()]
    const content = randomBytes(30_000)
    for (const [index, client] of people.entries()) {
      const [first, second] = [await client.createLibrary('First'), await client.createLibrary('Second')]
      // Equal files in a library, and in another one, earlier versions, a deleted file and a deleted library.
      for (const path of ['/a.bin', '/copy of a.bin']) await uploadFile(client, first, path, content)
      await uploadFile(client, second, '/a.bin', content)
      await uploadFile(client, first, '/b.bin', randomBytes(5000 + index))
      await uploadFile(client, first, '/b.bin', randomBytes(7000), { replace: true })
      await uploadFile(client, second, '/c.bin', randomBytes(2000))
      await client.delete(`/api/v2.1/repos/${second}/file/?p=/c.bin`)
      const gone = await client.createLibrary('Gone')
      await uploadFile(client, gone, '/d.bin', randomBytes(9000))
      await client.delete(`/api2/repos/${gone}/`)
    }
    const { usage: counted, statistics } = own.running.services
    await counted.refresh()
    await statistics.recordStored(counted)
    const admin = await own.admin()
    const get = async (path: string, query = {}, client = admin) => {
      const reply = await client.get(path, query)
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    }
    const { stored } = await get('/api/v2.1/admin/status/')
    const used = await get('/api/v2.1/admin/usage/', { per_page: 100 })
    const { data: users } = await get('/api/v2.1/admin/users/', { per_page: 100 })
    const { repos } = await get('/api/v2.1/admin/libraries/', { per_page: 100 })
    const { total_storage } = await get('/api/v2.1/admin/sysinfo/')
    const sum = (rows: Record<string, number>[], key: string) =>
      rows.reduce((all, row) => all + (row[key] ?? 0), 0)
    assert.equal(total_storage, 2 * (30_000 * 3 + 7000))
    assert.deepEqual(
      [stored.file_size, sum(used.accounts, 'file_size'), sum(users, 'quota_usage'), sum(repos, 'size')],
      Array.from({ length: 4 }, () => total_storage),
    )
    for (const client of people) {
      const { usage: quota } = await get('/api2/account/info/', {}, client)
      const { quota_usage } = users.find(({ email }: { email: string }) => email === client.email)
      const { file_size } = used.accounts.find(({ email }: { email: string }) => email === client.email)
      assert.deepEqual([quota_usage, file_size], [quota, quota])
    }
    for (const purpose of ['current', 'trash', 'history', 'deleted', 'unreferenced'])
      assert.equal(sum(used.accounts, purpose), stored[purpose], purpose)
    assert.deepEqual(
      [stored.current, stored.trash, stored.history, stored.deleted],
      [2 * (30_000 * 2 + 7000), 4000, 10_001, 18_000],
    )
    assert.deepEqual(stored.on_disk, used.stored)
  })

  it('of one library that cannot be counted do not block the count of others', async () => {
    const { usage: counted, core } = server.running.services
    const [damaged, sound] = [await user.createLibrary(), await user.createLibrary()]
    await put(damaged, '/docs/a.bin', 10)
    await put(sound, '/a.bin', 20)
    const lost = 'delete from fs_object where library_key = (select key from library where id = ?)'
    await dbOf(core).write((tx) => tx.run(lost, damaged))
    await assert.rejects(counted.refresh(), /could not be counted/)
    const reply = await user.get(`/api/v2.1/repos/${damaged}/usage/`)
    assert.deepEqual([reply.status, reply.body], [202, { repo_id: damaged, is_current: false }])
    const rows = await dbOf(core).all(
      'select library_key from library_usage u join library l on l.key = u.library_key where l.id = ?',
      sound,
    )
    assert.equal(rows.length, 1)
    await user.delete(`/api2/repos/${damaged}/`)
    await user.delete(`/api/v2.1/deleted-repos/${damaged}/`)
    await counted.refresh()
  })

  it('are counted for many files in many folders, and the count stops with the server', async () => {
    const library = await user.createLibrary()
    const folders = Array.from({ length: 30 }, (_, index) => `/f${index}`)
    for (const folder of folders) await put(library, `${folder}/x.bin`, 100)
    for (const folder of folders.slice(0, 10)) {
      await user.delete(`/api/v2.1/repos/${library}/dir/?p=${folder}`)
    }
    const counted = await usage(library)
    assert.deepEqual(counted, { ...nothing, current: 2000, trash: 1000, total: 3000 })
  })
})
