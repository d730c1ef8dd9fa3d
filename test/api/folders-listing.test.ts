import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { type FileId, parseLibraryId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { assertError, assertReply, EMPTY, NOON, Workspace } from './folders-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'

describe('listings', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ now: () => NOON })
  })
  after(async () => server[Symbol.asyncDispose]())

  const dir = (name: string, id = EMPTY) => ({ type: 'dir', id, name, mtime: NOON, permission: 'rw' })
  const olderFile = (name: string, email: string) => ({
    type: 'file',
    id: EMPTY,
    name,
    mtime: NOON,
    permission: 'rw',
    size: 0,
    modifier_email: email,
    modifier_name: email.split('@')[0],
    modifier_contact_email: email,
    starred: false,
    is_locked: false,
    lock_owner: '',
    lock_time: 0,
    locked_by_me: false,
  })
  const newerFile = (name: string, email: string, parent_dir: string) => ({
    ...olderFile(name, email),
    parent_dir,
    is_freezed: false,
    lock_owner_name: '',
    lock_owner_contact_email: '',
  })
  const recursiveFile = (name: string, email: string, parent_dir: string) => {
    const { starred: _, ...rest } = olderFile(name, email)
    return { ...rest, parent_dir }
  }

  it('sorts folders before files, each by lower-cased code points', async () => {
    const space = await Workspace.make(server)
    const files = ['b.txt', 'A.txt', 'a.txt', 'Z', '_', '\u{1F600}', '\uFF21', 'é']
    for (const name of files) await space.file(`/${name}`)
    for (const name of ['Zoo', 'apple']) await space.folder(`/${name}`)
    const expected = ['apple', 'Zoo', '_', 'A.txt', 'a.txt', 'b.txt', 'Z', 'é', '\uFF21', '\u{1F600}']
    assert.deepEqual(await space.names(), expected)
  })

  it('returns an empty folder with its id and permission in headers', async () => {
    const space = await Workspace.make(server)
    const reply = await space.client.get(space.v2('dir/'))
    assertReply(reply, 200, [])
    assert.equal(reply.text, '[]')
    assert.equal(reply.headers.get('oid'), EMPTY)
    assert.equal(reply.headers.get('dir_perm'), 'rw')
    const newer = await space.client.get(space.v21('dir/'))
    assertReply(newer, 200, { user_perm: 'rw', dir_id: EMPTY, dirent_list: [] })
  })

  it('returns every field of an entry', async () => {
    const space = await Workspace.make(server)
    const { email } = space.client
    await space.folder('/top/sub')
    await space.file('/top/"quotes" \u2028 & \\u0041.txt'.replace('\\', ''))
    const name = '"quotes" \u2028 & u0041.txt'
    const older = await space.client.get(space.v2('dir/'), { p: '/top' })
    assertReply(older, 200, [dir('sub'), olderFile(name, email)])
    assert.equal(older.headers.get('oid')?.length, 40)
    const newer = await space.client.get(space.v21('dir/'), { p: 'top/' })
    assertReply(newer, 200, {
      user_perm: 'rw',
      dir_id: older.headers.get('oid'),
      dirent_list: [{ ...dir('sub'), parent_dir: '/top/', starred: false }, newerFile(name, email, '/top/')],
    })
  })

  it('shows a changed display name in the listing of an unchanged folder', async () => {
    const space = await Workspace.make(server)
    await space.file('/a')
    await space.client.get(space.v2('dir/'))
    const { accounts } = server.running.services
    await accounts.update(space.client.email, { name: 'Ann Other' }, undefined)
    for (const url of [space.v2('dir/'), space.v21('dir/')]) {
      const reply = await space.client.get(url)
      const [entry] = reply.body.dirent_list ?? reply.body
      assert.equal(entry.modifier_name, 'Ann Other')
    }
  })

  it('answers "uptodate" to a client that has this version of the folder', async () => {
    const space = await Workspace.make(server)
    await space.folder('/a')
    const first = await space.client.get(space.v2('dir/'))
    const oid = first.headers.get('oid') ?? ''
    const second = await space.client.get(space.v2('dir/'), { oid })
    assertReply(second, 200, 'uptodate')
    assert.equal(second.headers.get('oid'), oid)
    await space.folder('/b')
    assert.equal((await space.client.get(space.v2('dir/'), { oid })).body.length, 2)
  })

  it('returns only files or only folders on request', async () => {
    const space = await Workspace.make(server)
    await space.folder('/d/sub')
    await space.file('/f')
    await space.file('/d/g')
    const names = async (query: Record<string, string>) => {
      const reply = await space.client.get(space.v2('dir/'), query)
      const newer = await space.client.get(space.v21('dir/'), query)
      const of = (list: { name: string }[]) => list.map((entry) => entry.name)
      assert.deepEqual(of(newer.body.dirent_list), of(reply.body))
      return of(reply.body)
    }
    assert.deepEqual(await names({ t: 'f' }), ['f'])
    assert.deepEqual(await names({ t: 'd' }), ['d'])
    assert.deepEqual(await names({ t: 'd', recursive: '1' }), ['d', 'sub'])
    assert.deepEqual(await names({ t: 'f', recursive: '1' }), ['g', 'f'])
  })

  it('returns everything below a folder, each folder before its content', async () => {
    const space = await Workspace.make(server)
    const { email } = space.client
    await space.folder('/top/a/b')
    await space.file('/top/a/b/x')
    await space.file('/top/z')
    const ids = new Map<string, string>()
    for (const p of ['/top', '/top/a']) {
      for (const entry of (await space.client.get(space.v2('dir/'), { p })).body)
        ids.set(entry.name, entry.id)
    }
    const expected = [
      { ...dir('a', ids.get('a')), parent_dir: '/top/' },
      { ...dir('b', ids.get('b')), parent_dir: '/top/a' },
      recursiveFile('x', email, '/top/a/b'),
      recursiveFile('z', email, '/top/'),
    ]
    const older = await space.client.get(space.v2('dir/'), { p: '/top', recursive: 1 })
    assertReply(older, 200, expected)
    assert.equal(older.headers.get('oid')?.length, 40)
    const newer = await space.client.get(space.v21('dir/'), { p: '/top', recursive: 1 })
    assertReply(newer, 200, { dirent_list: expected })
    assertReply(await space.client.get(space.v21('dir/'), { p: '/top/a/b', recursive: '0' }), 200, {
      user_perm: 'rw',
      dir_id: ids.get('b'),
      dirent_list: [newerFile('x', email, '/top/a/b/')],
    })
  })

  it('returns every level down to a folder on request', async () => {
    const space = await Workspace.make(server)
    await space.folder('/a/b')
    await space.file('/x')
    await space.file('/a/y')
    await space.file('/a/b/z')
    const reply = await space.client.get(space.v21('dir/'), { p: '/a/b', with_parents: 'true' })
    const shown = reply.body.dirent_list.map((entry: { parent_dir: string; name: string }) => [
      entry.parent_dir,
      entry.name,
    ])
    assert.deepEqual(shown, [
      ['/', 'a'],
      ['/', 'x'],
      ['/a/', 'b'],
      ['/a/', 'y'],
      ['/a/b/', 'z'],
    ])
  })

  it('returns ten thousand entries in order, flat and recursive', async () => {
    const space = await Workspace.make(server)
    const { access, accounts } = server.running.services
    const user = await accounts.findByLogin(space.client.email)
    const id = parseLibraryId(space.id)
    assert.ok(user !== undefined && id !== undefined)
    const names = Array.from({ length: 10_000 }, (_, n) => `${n % 2 ? 'File' : 'file'} ${n}`)
    await (await access.open(user, id)).editable(ROOT).commit(async (tree) => {
      for (const name of names) {
        const fileId = createHash('sha1').update(name).digest('hex') as FileId
        await tree.put(ROOT, fileDirent({ id: fileId, name, mtime: NOON, size: 1, modifier: user.email }))
      }
      return { description: 'Added many', result: undefined }
    })
    const order = (a: string, b: string) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)
    const expected = names.toSorted(order)
    const older = await space.client.get(space.v2('dir/'))
    const newer = await space.client.get(space.v21('dir/'))
    const recursive = await space.client.get(space.v2('dir/'), { recursive: 1 })
    for (const list of [older.body, newer.body.dirent_list, recursive.body]) {
      assert.deepEqual(
        list.map((entry: { name: string }) => entry.name),
        expected,
      )
    }
    assert.equal((await space.client.get(space.v2('dir/'))).text, older.text, 'also from the cache')
  })

  it('returns the permission of the caller', async () => {
    const space = await Workspace.make(server)
    await space.folder('/a')
    await space.makeReadOnly()
    const reply = await space.client.get(space.v2('dir/'))
    assert.equal(reply.headers.get('dir_perm'), 'r')
    assert.equal(reply.body[0].permission, 'r')
    const newer = await space.client.get(space.v21('dir/'))
    assert.deepEqual([newer.body.user_perm, newer.body.dirent_list[0].permission], ['r', 'r'])
  })

  it('rejects invalid and unknown paths', async () => {
    const space = await Workspace.make(server)
    await space.file('/file')
    const kind = "'t'(type) should be 'f' or 'd'."
    const recursive = "If you want to get recursive dir entries, you should set 'recursive' argument as '1'."
    const common: [query: Record<string, string>, status: number, text: string][] = [
      [{ t: 'x' }, 400, kind],
      [{ t: 'all' }, 400, kind],
      [{ recursive: '2' }, 400, recursive],
      [{ p: '/none' }, 404, 'Folder /none/ not found.'],
      [{ p: 'none//x' }, 404, 'Folder /none/x/ not found.'],
      [{ p: '/a/../b' }, 404, 'Folder /a/../b/ not found.'],
      [{ p: '/file' }, 404, 'Folder /file/ not found.'],
    ]
    for (const [query, status, text] of common) {
      for (const url of [space.v2('dir/'), space.v21('dir/')]) {
        assertError(await space.client.get(url, query), status, text, `${url} ${JSON.stringify(query)}`)
      }
    }
    for (const name of ['with_thumbnail', 'thumbnail_size', 'with_parents']) {
      assertError(await space.client.get(space.v21('dir/'), { [name]: 'x' }), 400, `${name} invalid.`)
    }
    for (const url of [`/api2/repos/${UNKNOWN}/dir/`, `/api/v2.1/repos/${UNKNOWN}/dir/`]) {
      assertError(await space.client.get(url), 404, `Library ${UNKNOWN} not found.`)
    }
  })
})
