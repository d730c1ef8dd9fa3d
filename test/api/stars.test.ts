import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer, type TestServer } from '../support/server.ts'
import { assertError, assertReply, EMPTY, NOON, NOON_TEXT, Workspace } from './folders-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'
const ITEMS = '/api/v2.1/starred-items/'
const FILES = '/api2/starredfiles/'

describe('stars', () => {
  let server: TestServer
  let now = NOON
  before(async () => {
    server = await startServer({ now: () => now })
  })
  after(async () => server[Symbol.asyncDispose]())

  const itemOf = (space: Workspace, path: string, obj_name: string) => ({
    repo_id: space.id,
    repo_name: 'Plans',
    repo_encrypted: false,
    is_dir: path.endsWith('/'),
    path,
    obj_name,
    mtime: NOON_TEXT,
    deleted: false,
    user_email: space.client.email,
    user_name: space.client.email.split('@')[0],
    user_contact_email: space.client.email,
  })

  async function filled(): Promise<Workspace> {
    now = NOON
    const space = await Workspace.make(server)
    await space.folder('/d')
    await space.folder('/e')
    await space.file('/a.png')
    await space.file('/b')
    return space
  }

  const star = (space: Workspace, path: string) =>
    space.client.post(ITEMS, { form: { repo_id: space.id, path } })

  it('are set on libraries, folders and files, and listed in this order, newest first', async () => {
    const space = await filled()
    const starred = [
      ['/a.png', '/a.png', 'a.png'],
      ['/d', '/d/', 'd'],
      ['/', '/', 'Plans'],
      ['b', '/b', 'b'],
      ['/e/', '/e/', 'e'],
    ] as const
    for (const [sent, path, name] of starred) {
      now += 1
      assertReply(await star(space, sent), 200, itemOf(space, path, name))
    }
    assert.equal((await star(space, '/a.png')).status, 200, 'twice is fine')
    const list = await space.client.get(ITEMS)
    assertReply(list, 200, {
      starred_item_list: [
        itemOf(space, '/', 'Plans'),
        itemOf(space, '/e/', 'e'),
        itemOf(space, '/d/', 'd'),
        itemOf(space, '/b', 'b'),
        itemOf(space, '/a.png', 'a.png'),
      ],
    })
  })

  it('are shown in listings to the caller', async () => {
    const space = await filled()
    await star(space, '/a.png')
    await star(space, '/d')
    const older = (await space.client.get(space.v2('dir/'))).body
    const starred = (list: { starred?: boolean }[]) => list.map((entry) => entry.starred)
    assert.deepEqual(starred(older), [undefined, undefined, true, false])
    const newer = (await space.client.get(space.v21('dir/'))).body.dirent_list
    assert.deepEqual(starred(newer), [true, false, true, false])
  })

  it('mark deleted items, and can be removed', async () => {
    const space = await filled()
    await star(space, '/b')
    await space.client.delete(space.v2('file/'), { query: { p: '/b' } })
    const list = await space.client.get(ITEMS)
    assert.deepEqual(list.body.starred_item_list, [{ ...itemOf(space, '/b', 'b'), mtime: '', deleted: true }])
    assertReply(await space.client.get(FILES), 200, [])
    const query = { repo_id: space.id, path: '/b' }
    assertReply(await space.client.delete(ITEMS, { query }), 200, { success: true })
    assertError(await space.client.delete(ITEMS, { query }), 404, 'Item /b not found.')
    assert.deepEqual((await space.client.get(ITEMS)).body.starred_item_list, [])
  })

  it('of items that are gone can be removed together', async () => {
    const space = await filled()
    for (const path of ['/', '/b', '/d']) await star(space, path)
    await space.client.delete(space.v2('file/'), { query: { p: '/b' } })
    const cleaned = await space.client.delete(`${ITEMS}clean-invalid/`)
    assertReply(cleaned, 200, { success: true, removed: 1 })
    const kept = [itemOf(space, '/', 'Plans'), itemOf(space, '/d/', 'd')]
    assertReply(await space.client.get(ITEMS), 200, { starred_item_list: kept })
    const again = await space.client.delete(`${ITEMS}clean-invalid/`)
    assertReply(again, 200, { success: true, removed: 0 })
    assert.equal((await server.anonymous.delete(`${ITEMS}clean-invalid/`)).status, 403)
  })

  it('follow renamed items, and hide deleted libraries', async () => {
    const space = await filled()
    await star(space, '/b')
    const form = { operation: 'rename', newname: 'c' }
    await space.client.post(space.v21('file/'), { query: { p: '/b' }, form })
    assert.equal((await space.client.get(ITEMS)).body.starred_item_list[0].path, '/c')
    await space.client.delete(`/api2/repos/${space.id}/`)
    assert.deepEqual((await space.client.get(ITEMS)).body.starred_item_list, [])
    assertReply(await space.client.get(FILES), 200, [])
  })

  it('reject invalid and unknown paths', async () => {
    const space = await filled()
    const stranger = await server.signUp()
    const rows: [form: Record<string, string>, status: number, text: string][] = [
      [{ path: '/b' }, 400, 'repo_id invalid.'],
      [{ repo_id: space.id }, 400, 'path invalid.'],
      [{ repo_id: UNKNOWN, path: '/b' }, 404, `Library ${UNKNOWN} not found.`],
      [{ repo_id: 'x', path: '/b' }, 404, 'Library x not found.'],
      [{ repo_id: space.id, path: '/none' }, 404, 'Item /none not found.'],
      [{ repo_id: space.id, path: '/../b' }, 404, 'Item /../b not found.'],
    ]
    for (const [form, status, text] of rows) {
      assertError(await space.client.post(ITEMS, { form }), status, text)
    }
    const form = { repo_id: space.id, path: '/b' }
    assertError(await stranger.post(ITEMS, { form }), 403, 'Permission denied.')
    assertError(await stranger.delete(ITEMS, { query: form }), 404, 'Item /b not found.')
    assertError(await space.client.delete(ITEMS, { query: { path: '/b' } }), 400, 'repo_id invalid.')
    assertError(await space.client.delete(ITEMS, { query: { repo_id: 'x' } }), 400, 'path invalid.')
    const unknown = await space.client.delete(ITEMS, { query: { repo_id: UNKNOWN, path: '/b' } })
    assertError(unknown, 404, 'Item /b not found.')
  })

  it('are listed by the older call for files', async () => {
    const space = await filled()
    const form = { repo_id: space.id, p: '/b' }
    assertReply(await space.client.post(FILES, { form }), 201, 'success')
    assertReply(await space.client.post(FILES, { form }), 201, 'success')
    await star(space, '/d')
    now = NOON + 120
    assertReply(await space.client.get(FILES), 200, [
      {
        org: -1,
        repo: space.id,
        repo_id: space.id,
        repo_name: 'Plans',
        repo_encrypted: false,
        path: '/b',
        file_name: 'b',
        icon_path: 'file.png',
        mtime: NOON,
        mtime_relative:
          '<time datetime="2025-07-31T22:13:20" is="relative-time" title="Thu, 31 Jul 2025 22:13:20 +0000" >2 minutes ago</time>',
        dir: false,
        oid: EMPTY,
        size: 0,
      },
    ])
    assertReply(await space.client.delete(FILES, { query: form }), 200, 'success')
    assertReply(await space.client.get(FILES), 200, [])
    assertReply(await space.client.delete(FILES, { query: form }), 200, 'success')
  })

  it('reject invalid and unknown paths in the older format', async () => {
    const space = await filled()
    const stranger = await server.signUp()
    const rows: [sent: Record<string, string>, status: number, text: string][] = [
      [{}, 400, 'Library ID or path is missing.'],
      [{ repo_id: space.id }, 400, 'Library ID or path is missing.'],
      [{ p: '/b' }, 400, 'Library ID or path is missing.'],
      [{ repo_id: space.id, p: '/none' }, 404, 'File not found'],
      [{ repo_id: space.id, p: '/d' }, 404, 'File not found'],
      [{ repo_id: UNKNOWN, p: '/b' }, 404, 'File not found'],
    ]
    for (const [sent, status, text] of rows) {
      assertError(await space.client.post(FILES, { form: sent }), status, text)
      assertError(await space.client.delete(FILES, { query: sent }), status, text)
    }
    const sent = { repo_id: space.id, p: '/b' }
    assertError(await stranger.post(FILES, { form: sent }), 403, 'Permission denied')
    assertError(await stranger.delete(FILES, { query: sent }), 403, 'Permission denied')
  })
})
