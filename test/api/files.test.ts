import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { type BlockId, type FileId, parseLibraryId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { insertObjects, prepareFile } from '../../src/libraries/tree/object-store.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { assertError, assertReply, EMPTY, NOON, NOON_TEXT, Workspace } from './folders-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'

describe('files', () => {
  let server: TestServer
  let now = NOON
  before(async () => {
    server = await startServer({ now: () => now })
  })
  after(async () => server[Symbol.asyncDispose]())

  /** Creates a file with content, like an upload. */
  async function put(space: Workspace, name: string, content: string): Promise<string> {
    const { access, accounts } = server.running.services
    const user = await accounts.findByLogin(space.client.email)
    const libraryId = parseLibraryId(space.id)
    assert.ok(user !== undefined && libraryId !== undefined)
    const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')
    const id = sha1(`file of ${content}`) as FileId
    const library = (await access.open(user, libraryId)).editable(ROOT)
    await library.commit(async (tree) => {
      const size = content.length
      await tree.put(ROOT, fileDirent({ id, name, mtime: tree.now, size, modifier: user.email }))
      const object = prepareFile(id, { blockIds: [sha1(content) as BlockId], size })
      const also = (tx: Parameters<typeof insertObjects>[0]) => insertObjects(tx, library.info.key, [object])
      return { description: `Added "${name}".`, result: undefined, also }
    })
    return id
  }

  describe('GET /api2/repos/<id>/file/', () => {
    it('returns a link with a ticket and the name, and the id of the file in a header', async () => {
      const space = await Workspace.make(server)
      const id = await put(space, 'ä (1)!.txt', 'x')
      for (const query of [{}, { reuse: '0' }, { reuse: '1' }, { op: 'download' }]) {
        const reply = await space.client.get(space.v2('file/'), { p: '/ä (1)!.txt', ...query })
        assert.equal(reply.status, 200)
        assert.equal(reply.headers.get('oid'), id)
        const base = `${server.url}/seafhttp/files/`
        assert.match(reply.body, /^[^ ]+\/[0-9a-f-]{36}\/%C3%A4%20%281%29%21\.txt$/)
        assert.ok(reply.body.startsWith(base), reply.body)
        assert.equal(reply.text, `"${reply.body}"`, 'nothing around the quotes, no escaped slashes')
      }
    })

    it('returns a link for an empty file and for a path without a leading slash', async () => {
      const space = await Workspace.make(server)
      await space.file('/empty')
      for (const p of ['/empty', 'empty', '/empty/', '//empty']) {
        const reply = await space.client.get(space.v2('file/'), { p })
        assert.equal(reply.status, 200)
        assert.equal(reply.headers.get('oid'), EMPTY)
      }
    })

    it('returns the blocks of a file', async () => {
      const space = await Workspace.make(server)
      const id = await put(space, 'a', 'x')
      const reply = await space.client.get(space.v2('file/'), { p: '/a', op: 'downloadblks' })
      const block = createHash('sha1').update('x').digest('hex')
      assertReply(reply, 200, { file_id: id, blklist: [block], encrypted: false, enc_version: 0 })
      assert.equal(reply.headers.get('oid'), id)
      await space.file('/empty')
      const empty = await space.client.get(space.v2('file/'), { p: '/empty', op: 'downloadblks' })
      assertReply(empty, 200, { file_id: EMPTY, blklist: [], encrypted: false, enc_version: 0 })
    })

    it('rejects invalid and unknown paths', async () => {
      const space = await Workspace.make(server)
      await space.folder('/dir')
      await space.file('/a')
      const reuse =
        "If you want to reuse file server access token for download file, you should set 'reuse' argument as '1'."
      const rows: [query: Record<string, string>, status: number, text: string][] = [
        [{}, 400, 'Path is missing.'],
        [{ p: '' }, 400, 'Path is missing.'],
        [{ p: '/none', reuse: 'x' }, 404, 'File not found'],
        [{ p: '/dir' }, 404, 'File not found'],
        [{ p: '/' }, 404, 'File not found'],
        [{ p: '/a', reuse: '2', op: 'x' }, 400, reuse],
        [{ p: '/a', op: 'x' }, 400, 'op invalid.'],
      ]
      for (const [query, status, text] of rows) {
        assertError(await space.client.get(space.v2('file/'), query), status, text, JSON.stringify(query))
      }
      assertError(await space.client.get(`/api2/repos/${UNKNOWN}/file/`), 404, 'Library not found.')
      const stranger = await server.signUp()
      const text = 'You do not have permission to access this file.'
      assertError(await stranger.get(space.v2('file/'), { p: '/a' }), 403, text)
      assertError(await stranger.get(space.v2('file/metadata/'), { p: '/none' }), 403, text)
    })
  })

  describe('GET /api2/repos/<id>/file/detail/', () => {
    it('returns the details of a file, including its modifier and its creator', async () => {
      const space = await Workspace.make(server)
      const { email } = space.client
      const first = await put(space, 'a.txt', 'one')
      const commit = await space.head()
      now = NOON + 3600
      try {
        const second = await put(space, 'a.txt', 'twelve')
        const expected = {
          type: 'file',
          id: second,
          name: 'a.txt',
          permission: 'rw',
          size: 6,
          mtime: NOON + 3600,
          last_modified: '2025-07-31T23:13:20+00:00',
          starred: false,
          last_modifier_email: email,
          last_modifier_name: email.split('@')[0],
          last_modifier_contact_email: email,
          uploader_email: email,
          uploader_name: email.split('@')[0],
          uploader_contact_email: email,
          upload_time: NOON_TEXT,
          last_modifier_avatar: `${server.url}/media/avatars/default.png`,
          comment_total: 0,
          can_edit: true,
        }
        assertReply(await space.client.get(space.v2('file/detail/'), { p: '/a.txt' }), 200, expected)
        const old = await space.client.get(space.v2('file/detail/'), { p: 'a.txt/', commit_id: commit })
        assertReply(old, 200, { ...expected, id: first })
      } finally {
        now = NOON
      }
    })

    it('returns whether the caller starred the file', async () => {
      const space = await Workspace.make(server)
      await space.file('/a')
      await space.client.post('/api/v2.1/starred-items/', { form: { repo_id: space.id, path: '/a' } })
      const reply = await space.client.get(space.v2('file/detail/'), { p: '/a' })
      assert.deepEqual([reply.body.starred, reply.body.can_edit], [true, false])
    })

    it('names the creator of the folder that brought the file in', async () => {
      const space = await Workspace.make(server)
      await space.folder('/a')
      await space.file('/a/x')
      now = NOON + 60
      try {
        const form = { operation: 'rename', newname: 'b' }
        await space.client.post(space.v2('dir/'), { query: { p: '/a' }, form })
        const reply = await space.client.get(space.v2('file/detail/'), { p: '/b/x' })
        assert.equal(reply.body.upload_time, '2025-07-31T22:14:20+00:00')
        assert.equal(reply.body.mtime, NOON)
      } finally {
        now = NOON
      }
    })

    it('rejects invalid and unknown paths', async () => {
      const space = await Workspace.make(server)
      const start = await space.head()
      await space.folder('/dir')
      await space.file('/a')
      const rows: [query: Record<string, string>, status: number, text: string][] = [
        [{}, 400, 'p invalid.'],
        [{ p: '/none' }, 404, 'File /none not found.'],
        [{ p: 'x/../y/' }, 404, 'File /x/../y not found.'],
        [{ p: '/dir' }, 404, 'File /dir not found.'],
        [{ p: '/a', commit_id: 'x' }, 400, 'commit_id invalid.'],
        [{ p: '/a', commit_id: EMPTY }, 404, `Commit ${EMPTY} not found.`],
        [{ p: '/a', commit_id: start }, 404, 'File /a not found.'],
      ]
      for (const [query, status, text] of rows) {
        assertError(await space.client.get(space.v2('file/detail/'), query), status, text)
      }
      const unknown = await space.client.get(`/api2/repos/${UNKNOWN}/file/detail/`, { p: '/a' })
      assertError(unknown, 404, `Library ${UNKNOWN} not found.`)
    })
  })

  const infoOf = (space: Workspace, obj_name: string, parent_dir = '/') => ({
    type: 'file',
    repo_id: space.id,
    parent_dir,
    obj_name,
    obj_id: EMPTY,
    size: 0,
    mtime: NOON_TEXT,
    is_locked: false,
    can_preview: true,
    can_edit: true,
  })

  describe('creating', () => {
    it('creates an empty file through v2.1, under another name if that one is taken', async () => {
      const space = await Workspace.make(server)
      await space.folder('/docs')
      const create = (p: string) =>
        space.client.post(space.v21('file/'), { query: { p }, form: { operation: 'create' } })
      assertReply(await create('docs/note.md/'), 200, infoOf(space, 'note.md', '/docs'))
      assert.equal(await space.lastCommit(), 'Added "note.md"')
      assertReply(await create('/docs/note.md'), 200, infoOf(space, 'note (1).md', '/docs'))
      assertReply(await create('/README.txt'), 200, infoOf(space, 'README.txt'))
      const image = await create('/image.PNG')
      assert.deepEqual([image.body.can_preview, image.body.can_edit], [true, false])
      const other = await create('/.bashrc')
      assert.deepEqual([other.body.can_preview, other.body.can_edit], [false, false])
      assert.equal((await create('/.bashrc')).body.obj_name, '.bashrc (1)')
    })

    it('creates an empty file through api2', async () => {
      const space = await Workspace.make(server)
      const create = (p: string) =>
        space.client.post(space.v2('file/'), { query: { p }, form: { operation: 'create' } })
      const reply = await create('/a b.txt')
      assertReply(reply, 201, 'success')
      assert.equal(reply.headers.get('location'), `${server.url}${space.v2('file/')}?p=/a%20b.txt`)
      assertError(await create('/x\\y'), 400, 'File name invalid.')
      assertError(await create('/none/x'), 520, 'Failed to create file.')
      assertError(await create('/../x/y'), 520, 'Failed to create file.')
    })

    it('returns the details of a file through v2.1', async () => {
      const space = await Workspace.make(server)
      await space.file('/a.txt')
      assertReply(await space.client.get(space.v21('file/'), { p: 'a.txt' }), 200, infoOf(space, 'a.txt'))
      assertError(await space.client.get(space.v21('file/')), 400, 'p invalid.')
      assertError(await space.client.get(space.v21('file/'), { p: '/x/' }), 404, 'File /x not found.')
      const unknown = await space.client.get(`/api/v2.1/repos/${UNKNOWN}/file/`, { p: '/a' })
      assertError(unknown, 404, `Library ${UNKNOWN} not found.`)
    })

    it('rejects invalid operations through v2.1, and changes nothing', async () => {
      const space = await Workspace.make(server)
      await space.file('/a')
      const head = await space.head()
      const only = "operation can only be 'create', 'rename', 'move', 'copy', 'convert' or 'revert'."
      const rows: [p: string | undefined, form: Record<string, string>, status: number, text: string][] = [
        [undefined, {}, 400, 'p invalid.'],
        ['/x', {}, 400, 'operation invalid.'],
        ['/x', { operation: 'chmod' }, 400, only],
        ['/x', { operation: 'revert', commit_id: EMPTY }, 404, `Commit ${EMPTY} not found.`],
        ['/x', { operation: 'revert' }, 400, 'commit_id invalid.'],
        ['/none/x', { operation: 'create' }, 404, 'Folder /none not found.'],
        ['/a/x', { operation: 'create' }, 404, 'Folder /a not found.'],
        ['/a\\b', { operation: 'create' }, 400, 'name invalid.'],
        ['/', { operation: 'create' }, 400, 'name invalid.'],
        ['/..', { operation: 'create' }, 400, 'name invalid.'],
        [`/${'ä'.repeat(128)}`, { operation: 'create' }, 400, 'name invalid.'],
        ['/a', { operation: 'rename' }, 400, 'newname invalid.'],
        ['/a', { operation: 'rename', newname: 'x/y' }, 400, 'name invalid.'],
        ['/a', { operation: 'rename', newname: 'x'.repeat(256) }, 400, 'newname is too long.'],
        ['/a', { operation: 'rename', newname: 'a' }, 400, 'The new name is the same to the old'],
        ['/none', { operation: 'rename', newname: 'x' }, 404, 'File /none not found.'],
      ]
      for (const [p, form, status, text] of rows) {
        const query = p === undefined ? {} : { p }
        const reply = await space.client.post(space.v21('file/'), { query, form })
        assertError(reply, status, text, `${p} ${JSON.stringify(form)}`)
      }
      assert.equal(await space.head(), head)
    })
  })

  describe('renaming', () => {
    it('answers 301 with the new location through api2', async () => {
      const space = await Workspace.make(server)
      await space.folder('/d')
      await space.file('/d/a.txt')
      await space.file('/d/b.txt')
      const form = { operation: 'Rename', newname: 'b.txt' }
      const reply = await space.client.post(space.v2('file/'), { query: { p: '/d/a.txt' }, form })
      assertReply(reply, 301, 'success')
      const location = `${server.url}${space.v2('file/')}?p=/d/b%20%281%29.txt`
      assert.equal(reply.headers.get('location'), location)
      assert.equal(await space.lastCommit(), 'Renamed "a.txt"')
      assert.deepEqual(await space.names('/d'), ['b (1).txt', 'b.txt'])
    })

    it('returns the listing of the parent on request', async () => {
      const space = await Workspace.make(server)
      await space.file('/a')
      const query = { p: '/a', reloaddir: 'true' }
      const form = { operation: 'rename', newname: 'b' }
      const reply = await space.client.post(space.v2('file/'), { query, form })
      assert.equal(reply.status, 200)
      assert.deepEqual(
        reply.body.map((entry: { name: string }) => entry.name),
        ['b'],
      )
    })

    it('renames folders through api2 too, and only files through v2.1', async () => {
      const space = await Workspace.make(server)
      await space.folder('/d')
      const form = { operation: 'rename', newname: 'e' }
      const newer = await space.client.post(space.v21('file/'), { query: { p: '/d' }, form })
      assertError(newer, 404, 'File /d not found.')
      assert.equal((await space.client.post(space.v2('file/'), { query: { p: '/d' }, form })).status, 301)
      assert.equal(await space.lastCommit(), 'Renamed directory "d"')
    })

    it('returns the file through v2.1', async () => {
      const space = await Workspace.make(server)
      await space.file('/a.txt')
      const form = { operation: 'rename', newname: 'b.txt' }
      const reply = await space.client.post(space.v21('file/'), { query: { p: '/a.txt' }, form })
      assertReply(reply, 200, infoOf(space, 'b.txt'))
    })

    it('rejects invalid operations through api2, and changes nothing', async () => {
      const space = await Workspace.make(server)
      await space.file('/a')
      const head = await space.head()
      const rename = (newname: string) => ({ operation: 'rename', newname })
      const rows: [p: string | undefined, form: Record<string, string>, status: number, text: string][] = [
        [undefined, rename('x'), 400, 'Path is missing or invalid.'],
        ['a', rename('x'), 400, 'Path is missing or invalid.'],
        ['/', rename('x'), 400, 'Path is missing or invalid.'],
        ['/a', {}, 400, 'Operation can only be rename, create or move.'],
        ['/a', { operation: 'constructor' }, 400, 'Operation can only be rename, create or move.'],
        ['/a', { operation: 'rename' }, 400, 'New name is missing'],
        ['/a', rename('x'.repeat(256)), 400, 'New name is too long'],
        ['/a', rename('ä'.repeat(128)), 400, 'File name invalid.'],
        ['/a', rename('x/y'), 400, 'File name invalid.'],
        ['/a', rename('a'), 409, 'The new name is the same to the old'],
        ['/none', rename('x'), 520, 'Failed to rename file: /none not found.'],
        ['/../a', rename('x'), 520, 'Failed to rename file: /../a not found.'],
      ]
      for (const [p, form, status, text] of rows) {
        const query = p === undefined ? {} : { p }
        const reply = await space.client.post(space.v2('file/'), { query, form })
        assertError(reply, status, text, `${p} ${JSON.stringify(form)}`)
      }
      const unknown = await space.client.post(`/api2/repos/${UNKNOWN}/file/`, { form: rename('x') })
      assertError(unknown, 404, 'Library not found.')
      assert.equal(await space.head(), head)
    })

    it('names the operation when the caller lacks the permission', async () => {
      const space = await Workspace.make(server)
      await space.file('/a')
      const stranger = await server.signUp()
      await space.makeReadOnly()
      for (const operation of ['rename', 'create', 'move']) {
        const form = { operation, newname: 'b', dst_repo: space.id, dst_dir: '/' }
        for (const client of [stranger, space.client]) {
          const reply = await client.post(space.v2('file/'), { query: { p: '/a' }, form })
          assertError(reply, 403, `You do not have permission to ${operation} file.`)
        }
      }
    })
  })

  describe('deleting', () => {
    it('deletes files and folders through api2, and succeeds for a missing entry', async () => {
      const space = await Workspace.make(server)
      await space.folder('/d/e')
      await space.file('/a')
      const remove = (query: Record<string, string>) => space.client.delete(space.v2('file/'), { query })
      assertReply(await remove({ p: '/a' }), 200, 'success')
      assert.equal(await space.lastCommit(), 'Deleted "a"')
      assertReply(await remove({ p: 'd' }), 200, 'success')
      assert.equal(await space.lastCommit(), 'Removed directory "d"')
      const head = await space.head()
      for (const p of ['/a', '/none/x', '/../x']) assertReply(await remove({ p }), 200, 'success')
      assertError(await remove({ p: '/' }), 400, 'Path is invalid.')
      assertError(await remove({}), 400, 'Path is missing.')
      assert.equal(await space.head(), head)
      await space.file('/b')
      const listing = await remove({ p: '/b', reloaddir: 'true' })
      assertReply(listing, 200, [])
      assert.equal(listing.headers.get('oid'), EMPTY)
      const unknown = await space.client.delete(`/api2/repos/${UNKNOWN}/file/`, { query: { p: '/a' } })
      assertError(unknown, 404, 'Library not found.')
    })

    it('deletes only files through v2.1, and returns the commit that still has the file', async () => {
      const space = await Workspace.make(server)
      await space.folder('/d')
      await space.file('/a')
      const commit_id = await space.head()
      const remove = (query: Record<string, string>) => space.client.delete(space.v21('file/'), { query })
      assertReply(await remove({ p: '/a' }), 200, { success: true, commit_id })
      const head = await space.head()
      for (const p of ['/a', '/d', '/', '/../x']) assertReply(await remove({ p }), 200, { success: true })
      assert.equal(await space.head(), head)
      assertError(await remove({}), 400, 'p invalid.')
      const unknown = await space.client.delete(`/api/v2.1/repos/${UNKNOWN}/file/`, { query: { p: '/a' } })
      assertError(unknown, 404, `Library ${UNKNOWN} not found.`)
    })
  })
})
