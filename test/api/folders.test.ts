import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer, type TestServer } from '../support/server.ts'
import { assertError, assertReply, EMPTY, NOON, NOON_TEXT, Workspace } from './folders-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'

describe('folders', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ now: () => NOON })
  })
  after(async () => server[Symbol.asyncDispose]())

  describe('POST /api2/repos/<id>/dir/', () => {
    it('creates a folder and returns its location', async () => {
      const space = await Workspace.make(server)
      const make = (p: string) =>
        space.client.post(space.v2('dir/'), { query: { p }, form: { operation: 'mkdir' } })
      const first = await make('/Größe (1)')
      assertReply(first, 201, 'success')
      const base = `${server.url}/api2/repos/${space.id}/dir/?p=`
      assert.equal(first.headers.get('location'), `${base}/Gr%C3%B6%C3%9Fe%20%281%29`)
      assert.equal(await space.lastCommit(), 'Added directory "Größe (1)"')
      const taken = await make('/Größe (1)/')
      assert.equal(taken.headers.get('location'), `${base}/Gr%C3%B6%C3%9Fe%20%281%29%20%281%29`)
      assert.deepEqual(await space.names(), ['Größe (1)', 'Größe (1) (1)'])
    })

    it('creates missing parents with create_parents, and accepts an existing folder', async () => {
      const space = await Workspace.make(server)
      for (const create_parents of ['true', '1', 'true']) {
        const form = { operation: 'mkdir', create_parents }
        const reply = await space.client.post(space.v2('dir/'), { query: { p: '/a/b/c' }, form })
        assertReply(reply, 201, 'success')
      }
      assert.deepEqual(await space.names('/a/b'), ['c'])
    })

    it('creates two thousand levels at once', async () => {
      const space = await Workspace.make(server)
      const deep = '/a'.repeat(2000)
      await space.folder(deep)
      assert.deepEqual(await space.names(deep), [])
      const recursive = await space.client.get(space.v2('dir/'), { recursive: 1 })
      assert.equal(recursive.body.length, 2000)
      const parents = await space.client.get(space.v21('dir/'), { p: deep, with_parents: 'true' })
      assert.equal(parents.body.dirent_list.length, 2000)
    })

    it('returns the listing of the parent on request', async () => {
      const space = await Workspace.make(server)
      await space.folder('/top')
      const query = { p: '/top/new', reloaddir: 'true' }
      const reply = await space.client.post(space.v2('dir/'), { query, form: { operation: 'mkdir' } })
      assert.equal(reply.status, 200)
      assert.deepEqual(reply.body, [{ type: 'dir', id: EMPTY, name: 'new', mtime: NOON, permission: 'rw' }])
      assert.match(reply.headers.get('oid') ?? '', /^[0-9a-f]{40}$/)
    })

    it('renames a folder, and does nothing if the name is unchanged', async () => {
      const space = await Workspace.make(server)
      await space.folder('/a')
      await space.folder('/b')
      const to = (newname: string) =>
        space.client.post(space.v2('dir/'), { query: { p: '/a' }, form: { operation: 'Rename', newname } })
      const before = await space.head()
      assertReply(await to('a'), 200, 'success')
      assert.equal(await space.head(), before)
      assertReply(await to('b'), 200, 'success')
      assert.deepEqual(await space.names(), ['b', 'b (1)'])
      assert.equal(await space.lastCommit(), 'Renamed directory "a"')
    })

    it('rejects invalid operations, and changes nothing', async () => {
      const space = await Workspace.make(server)
      await space.folder('/docs')
      await space.file('/file.txt')
      const head = await space.head()
      const rows: [p: string | undefined, form: Record<string, string>, status: number, text: string][] = [
        [undefined, { operation: 'mkdir' }, 400, 'Path is missing.'],
        ['', { operation: 'mkdir' }, 400, 'Path is missing.'],
        ['relative', { operation: 'mkdir' }, 400, 'Path is missing.'],
        ['/', { operation: 'mkdir' }, 400, 'Path is invalid.'],
        ['///', { operation: 'rename', newname: 'x' }, 400, 'Path is invalid.'],
        ['/a\\b', { operation: 'mkdir' }, 400, 'Folder name invalid.'],
        ['/..', { operation: 'mkdir' }, 400, 'Folder name invalid.'],
        [`/${'x'.repeat(256)}`, { operation: 'mkdir' }, 400, 'Folder name invalid.'],
        ['/a\\b/c', { operation: 'mkdir', create_parents: 'true' }, 400, 'Folder name invalid.'],
        ['/file.txt/c', { operation: 'mkdir', create_parents: 'true' }, 404, 'Folder /file.txt not found.'],
        ['/none/x', { operation: 'mkdir' }, 404, 'Folder /none not found.'],
        ['/none', { operation: 'rename', newname: 'x' }, 404, 'Folder /none not found.'],
        ['/file.txt', { operation: 'rename', newname: 'x' }, 404, 'Folder /file.txt not found.'],
        ['/docs', { operation: 'rename' }, 400, 'New name is mandatory.'],
        ['/docs', { operation: 'rename', newname: '..' }, 400, 'Folder name invalid.'],
        ['/docs', { operation: 'rename', newname: 'a/b' }, 400, 'Folder name invalid.'],
        ['/docs', { operation: 'chmod' }, 400, 'Operation not supported.'],
        ['/docs', {}, 400, 'Operation not supported.'],
      ]
      for (const [p, form, status, text] of rows) {
        const query = p === undefined ? {} : { p }
        const reply = await space.client.post(space.v2('dir/'), { query, form })
        assertError(reply, status, text, `${p} ${JSON.stringify(form)}`)
      }
      const unknown = await space.client.post(`/api2/repos/${UNKNOWN}/dir/`, {
        query: { p: '/x' },
        form: { operation: 'mkdir' },
      })
      assertError(unknown, 404, 'Library not found.')
      assert.equal(await space.head(), head)
    })
  })

  describe('DELETE /api2/repos/<id>/dir/', () => {
    it('deletes a folder with its content', async () => {
      const space = await Workspace.make(server)
      await space.folder('/a/b')
      await space.file('/a/b/c.txt')
      assertReply(await space.client.delete(space.v2('dir/'), { query: { p: '/a' } }), 200, 'success')
      assert.deepEqual(await space.names(), [])
      assert.equal(await space.lastCommit(), 'Removed directory "a"')
    })

    it('returns the listing of the parent on request', async () => {
      const space = await Workspace.make(server)
      await space.folder('/a/b')
      await space.folder('/a/c')
      const query = { p: '/a/b', reloaddir: 'true' }
      const reply = await space.client.delete(space.v2('dir/'), { query })
      assertReply(reply, 200, [{ type: 'dir', id: EMPTY, name: 'c', mtime: NOON, permission: 'rw' }])
    })

    it('rejects invalid operations', async () => {
      const space = await Workspace.make(server)
      await space.file('/file.txt')
      const rows: [query: Record<string, string>, status: number, text: string][] = [
        [{}, 400, 'p invalid.'],
        [{ p: '/none' }, 404, 'Folder /none not found.'],
        [{ p: '/file.txt' }, 404, 'Folder /file.txt not found.'],
        [{ p: '/' }, 400, 'Path is invalid.'],
      ]
      for (const [query, status, text] of rows) {
        assertError(await space.client.delete(space.v2('dir/'), { query }), status, text)
      }
      const unknown = await space.client.delete(`/api2/repos/${UNKNOWN}/dir/`, { query: { p: '/x' } })
      assertError(unknown, 404, `Library ${UNKNOWN} not found.`)
    })
  })

  describe('/api/v2.1/repos/<id>/dir/', () => {
    it('creates and renames folders, and returns their details', async () => {
      const space = await Workspace.make(server)
      await space.folder('/top')
      const post = (p: string, form: Record<string, string>) =>
        space.client.post(space.v21('dir/'), { query: { p }, form })
      const info = (obj_name: string, parent_dir = '/top') => ({
        type: 'dir',
        repo_id: space.id,
        parent_dir,
        obj_name,
        obj_id: EMPTY,
        mtime: NOON_TEXT,
      })
      assertReply(await post('top/2025/', { operation: 'mkdir' }), 200, info('2025'))
      assertReply(await post('/top/2025', { operation: 'mkdir' }), 200, info('2025 (1)'))
      assertReply(await post('/root', { operation: 'MKDIR' }), 200, info('root', '/'))
      assertReply(await post('/top/2025', { operation: 'rename', newname: '2026' }), 200, info('2026'))
      const head = await space.head()
      assertReply(await post('/top/2026', { operation: 'rename', newname: '2026' }), 200, info('2026'))
      assert.equal(await space.head(), head)
    })

    it('deletes a folder and returns the commit that still has it', async () => {
      const space = await Workspace.make(server)
      await space.folder('/a')
      const commit_id = await space.head()
      const reply = await space.client.delete(space.v21('dir/'), { query: { p: '/a/' } })
      assertReply(reply, 200, { success: true, commit_id })
    })

    it('rejects invalid operations, and changes nothing', async () => {
      const space = await Workspace.make(server)
      await space.folder('/docs')
      const head = await space.head()
      const only = "operation can only be 'mkdir', 'rename' or 'revert'."
      const rows: [p: string | undefined, form: Record<string, string>, status: number, text: string][] = [
        [undefined, { operation: 'mkdir' }, 400, 'p invalid.'],
        ['/', { operation: 'mkdir' }, 400, 'Can not operate root dir.'],
        ['/x', {}, 400, 'operation invalid.'],
        ['/x', { operation: 'chmod' }, 400, only],
        ['/x', { operation: 'revert', commit_id: EMPTY }, 404, `Commit ${EMPTY} not found.`],
        ['/x', { operation: 'revert' }, 400, 'commit_id invalid.'],
        ['/none/x', { operation: 'mkdir' }, 404, 'Folder /none not found.'],
        ['/docs/a\\b', { operation: 'mkdir' }, 400, 'name invalid.'],
        ['/none', { operation: 'rename', newname: 'x' }, 404, 'Folder /none not found.'],
        ['/docs', { operation: 'rename' }, 400, 'newname invalid.'],
        ['/docs', { operation: 'rename', newname: 'a/b' }, 400, 'name invalid.'],
      ]
      for (const [p, form, status, text] of rows) {
        const query = p === undefined ? {} : { p }
        assertError(await space.client.post(space.v21('dir/'), { query, form }), status, text, `${p}`)
      }
      const deletions: [query: Record<string, string>, status: number, text: string][] = [
        [{}, 400, 'p invalid.'],
        [{ p: '/' }, 400, 'Can not delete root path.'],
        [{ p: '/none' }, 404, 'Folder /none not found.'],
      ]
      for (const [query, status, text] of deletions) {
        assertError(await space.client.delete(space.v21('dir/'), { query }), status, text)
      }
      const elsewhere = `/api/v2.1/repos/${UNKNOWN}/dir/`
      const form = { operation: 'mkdir' }
      const made = await space.client.post(elsewhere, { query: { p: '/x' }, form })
      assertError(made, 404, `Library ${UNKNOWN} not found.`)
      const deleted = await space.client.delete(elsewhere, { query: { p: '/x' } })
      assertError(deleted, 404, 'Folder /x not found.')
      assert.equal(await space.head(), head)
    })
  })

  describe('details', () => {
    it('count the files below a folder', async () => {
      const space = await Workspace.make(server)
      await space.folder('/2025/07')
      for (const name of ['/2025/a', '/2025/07/b', '/2025/07/c', '/d']) await space.file(name)
      for (const path of ['/2025', '/2025/', '2025']) {
        const reply = await space.client.get(space.v21('dir/detail/'), { path })
        const about = { repo_id: space.id, path: '/2025/', name: '2025', mtime: NOON_TEXT }
        assertReply(reply, 200, { ...about, permission: 'rw', file_count: 3, size: 0 })
      }
      for (const query of [{}, { path: '/' }, { path: '' }]) {
        assertError(await space.client.get(space.v21('dir/detail/'), query), 400, 'path invalid.')
      }
      const none = await space.client.get(space.v21('dir/detail/'), { path: '/none' })
      assertError(none, 404, 'Folder /none/ not found.')
    })

    it('return the ids of folders and files', async () => {
      const space = await Workspace.make(server)
      await space.folder('/2025')
      await space.file('/2025/a')
      const listing = await space.client.get(space.v2('dir/'))
      const { id } = listing.body[0]
      assertReply(await space.client.get(space.v2('dir/metadata/'), { p: '/2025' }), 200, { id })
      const root = await space.client.get(space.v2('dir/metadata/'))
      assertReply(root, 200, { id: listing.headers.get('oid') })
      const none = await space.client.get(space.v2('dir/metadata/'), { p: '/x' })
      assertError(none, 404, 'Folder /x/ not found.')
      assertReply(await space.client.get(space.v2('file/metadata/'), { p: '/2025/a' }), 200, { id: EMPTY })
      assertError(await space.client.get(space.v2('file/metadata/')), 400, 'Path is missing.')
      assertError(await space.client.get(space.v2('file/metadata/'), { p: '/2025' }), 404, 'File not found')
      assertError(await space.client.get(`/api2/repos/${UNKNOWN}/file/metadata/`), 404, 'Library not found.')
    })
  })

  describe('POST /api/v2.1/repos/batch-create-dir/', () => {
    const url = '/api/v2.1/repos/batch-create-dir/'

    it('creates many folders in one commit and reports which it could not create', async () => {
      const space = await Workspace.make(server)
      await space.folder('/old')
      await space.file('/file')
      const paths = ['/a/b', '/old', '/file/x', '/c\\d', '/../e', 'f', '/a/b']
      const reply = await space.client.post(url, { json: { repo_id: space.id, paths } })
      const failed = (path: string, error_msg: string) => ({ repo_id: space.id, path, error_msg })
      assertReply(reply, 200, {
        failed: [
          failed('/old', 'Folder already exists.'),
          failed('/file/x', 'path invalid.'),
          failed('/c\\d', 'path invalid.'),
          failed('/../e', 'path invalid.'),
          failed('/a/b', 'Folder already exists.'),
        ],
        success: [
          { repo_id: space.id, path: '/a/b' },
          { repo_id: space.id, path: 'f' },
        ],
      })
      assert.deepEqual(await space.names(), ['a', 'f', 'old', 'file'])
      assert.equal(await space.lastCommit(), 'Added "a/b" and 1 more files')
    })

    it('creates no commit if there is nothing to create', async () => {
      const space = await Workspace.make(server)
      await space.folder('/old')
      const head = await space.head()
      await space.client.post(url, { json: { repo_id: space.id, paths: ['/old', '/'] } })
      assert.equal(await space.head(), head)
    })

    it('rejects invalid requests', async () => {
      const space = await Workspace.make(server)
      const rows: [json: unknown, status: number, text: string][] = [
        [{ paths: ['/a'] }, 400, 'repo_id invalid.'],
        [{ repo_id: space.id }, 400, 'paths invalid.'],
        [{ repo_id: space.id, paths: [] }, 400, 'paths invalid.'],
        [{ repo_id: space.id, paths: [{}] }, 400, 'paths invalid.'],
        [{ repo_id: 'x', paths: ['/a'] }, 404, 'Library x not found.'],
        [{ repo_id: UNKNOWN, paths: ['/a'] }, 404, `Library ${UNKNOWN} not found.`],
      ]
      for (const [json, status, text] of rows) {
        assertError(await space.client.post(url, { json }), status, text, JSON.stringify(json))
      }
    })

    it('rejects every path of a read-only library', async () => {
      const space = await Workspace.make(server)
      await space.makeReadOnly()
      const reply = await space.client.post(url, { form: { repo_id: space.id, paths: ['/a', '/b'] } })
      const refused = (path: string) => ({ repo_id: space.id, path, error_msg: 'Permission denied.' })
      assertReply(reply, 200, { failed: [refused('/a'), refused('/b')], success: [] })
    })
  })
})
