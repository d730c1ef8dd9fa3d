import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { assertError, assertReply, NOON, Workspace } from './folders-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'
const HOUR = 3600

describe('locks', () => {
  let server: TestServer
  let somebody: Client
  let now = NOON
  before(async () => {
    server = await startServer({ now: () => now, env: { CARREL_SESSION_IDLE_DAYS: '0' } })
    somebody = await server.signUp({ email: 'somebody@example.org' })
  })
  after(async () => server[Symbol.asyncDispose]())
  beforeEach(() => {
    now = NOON
  })

  const older = (space: Workspace, form: Record<string, string | number>) =>
    space.client.put(space.v2('file/'), { form })
  const newer = (space: Workspace, p: string, form: Record<string, string | number>) =>
    space.client.put(space.v21('file/'), { query: { p }, form })
  const isLocked = async (space: Workspace, p = '/a') =>
    (await space.client.get(space.v21('file/'), { p })).body.is_locked

  async function withFile(): Promise<Workspace> {
    const space = await Workspace.make(server)
    await space.folder('/d')
    await space.file('/a')
    return space
  }

  it('lock and unlock a file through api2', async () => {
    const space = await withFile()
    const head = await space.head()
    assertReply(await older(space, { operation: 'lock', p: '/a' }), 200, 'success')
    assert.equal(await isLocked(space), true)
    assertError(await older(space, { operation: 'Lock', p: 'a' }), 403, 'File is already locked')
    assertReply(await older(space, { operation: 'UNLOCK', p: '/a' }), 200, 'success')
    assert.equal(await isLocked(space), false)
    assertError(await older(space, { operation: 'unlock', p: '/a' }), 403, 'File is not locked')
    assert.equal(await space.head(), head, 'a lock is no commit')
  })

  it('leave the lock of another account alone through api2', async () => {
    const space = await withFile()
    await space.lockFor('/a', somebody)
    assertError(await older(space, { operation: 'lock', p: '/a' }), 403, 'File is already locked')
    assertError(await older(space, { operation: 'unlock', p: '/a' }), 403, 'You can not unlock this file')
  })

  it('reject invalid targets through api2', async () => {
    const space = await withFile()
    const rows: [form: Record<string, string>, status: number, text: string][] = [
      [{ operation: 'lock' }, 400, 'Path is missing or invalid.'],
      [{ operation: 'lock', p: '/none' }, 400, 'Path is missing or invalid.'],
      [{ operation: 'lock', p: '/d' }, 400, 'Path is missing or invalid.'],
      [{ operation: 'lock', p: '/' }, 400, 'Path is missing or invalid.'],
      [{ operation: 'steal', p: '/a' }, 400, 'Operation can only be lock or unlock'],
      [{ p: '/a' }, 400, 'Operation can only be lock or unlock'],
      [{ operation: 'lock', p: '/a', expire: 'soon' }, 400, 'expire invalid.'],
    ]
    for (const [form, status, text] of rows) assertError(await older(space, form), status, text)
    const unknown = await space.client.put(`/api2/repos/${UNKNOWN}/file/`, { form: { p: '/a' } })
    assertError(unknown, 404, 'Library not found.')
    await space.makeReadOnly()
    assertError(await older(space, { operation: 'lock', p: '/a' }), 403, 'Permission denied.')
  })

  it('lock, refresh and unlock a file through v2.1', async () => {
    const space = await withFile()
    const locked = await newer(space, '/a', { operation: 'lock' })
    assert.equal(locked.status, 200)
    assert.deepEqual([locked.body.type, locked.body.obj_name, locked.body.is_locked], ['file', 'a', true])
    assertError(await newer(space, '/a', { operation: 'lock' }), 400, 'File is locked')
    now += 11 * HOUR
    assert.equal((await newer(space, '/a', { operation: 'refresh-lock' })).body.is_locked, true)
    now += 11 * HOUR
    assert.equal(await isLocked(space), true)
    assert.equal((await newer(space, '/a', { operation: 'unlock' })).body.is_locked, false)
    assertError(await newer(space, '/a', { operation: 'unlock' }), 400, 'File is not locked.')
    assertError(await newer(space, '/a', { operation: 'refresh-lock' }), 400, 'File is not locked.')
  })

  it('can be removed but not refreshed by the owner of the library through v2.1', async () => {
    const space = await withFile()
    await space.lockFor('/a', somebody)
    const refreshed = await newer(space, '/a', { operation: 'refresh-lock' })
    assertError(refreshed, 403, "You can not refresh this file's lock.")
    assert.equal((await newer(space, '/a', { operation: 'unlock' })).status, 200)
    assert.equal(await isLocked(space), false)
  })

  it('reject invalid targets through v2.1', async () => {
    const space = await withFile()
    const words = "operation can only be 'lock', 'unlock' or 'refresh-lock'."
    const rows: [p: string, form: Record<string, string>, status: number, text: string][] = [
      ['', { operation: 'lock' }, 400, 'p invalid.'],
      ['/a', {}, 400, 'operation invalid.'],
      ['/a', { operation: 'steal' }, 400, words],
      ['/a', { operation: 'lock', expire: '1.5' }, 400, 'expire invalid.'],
      ['/a', { operation: 'lock', expire: '99999999999' }, 400, 'expire invalid.'],
      ['/none', { operation: 'lock' }, 404, 'File /none not found.'],
      ['/d', { operation: 'lock' }, 404, 'File /d not found.'],
    ]
    for (const [p, form, status, text] of rows) assertError(await newer(space, p, form), status, text)
  })

  it('expire after twelve hours, after the requested time, or never', async () => {
    for (const [expire, until] of [
      [undefined, 12 * HOUR],
      ['0', 12 * HOUR],
      ['60', 60],
      ['-1', Number.POSITIVE_INFINITY],
    ] as const) {
      const space = await withFile()
      now = NOON
      await older(space, { operation: 'lock', p: '/a', ...(expire && { expire }) })
      now = NOON + Math.min(until, 1e9) - 1
      assert.equal(await isLocked(space), true, `${expire}`)
      now += 1
      assert.equal(await isLocked(space), until > 1e9, `${expire}`)
      if (until > 1e9) continue
      assertReply(await older(space, { operation: 'lock', p: '/a' }), 200, 'success')
    }
  })

  it('are shown in listings', async () => {
    const space = await withFile()
    await space.file('/b')
    await space.file('/c')
    const { email } = space.client
    await older(space, { operation: 'lock', p: '/a' })
    await space.lockFor('/b', somebody, null)
    now += 60
    const [, a, b, c] = (await space.client.get(space.v2('dir/'))).body
    const mine = { is_locked: true, lock_owner: email, lock_time: NOON, locked_by_me: true }
    const free = { is_locked: false, lock_owner: '', lock_time: 0, locked_by_me: false }
    assert.partialDeepStrictEqual(a, { ...mine, lock_owner_name: email.split('@')[0] })
    const theirs = { is_locked: true, lock_owner: somebody.email, lock_time: NOON, locked_by_me: false }
    assert.partialDeepStrictEqual(b, { ...theirs, lock_owner_name: 'somebody' })
    assert.partialDeepStrictEqual(c, free)
    assert.ok(!('lock_owner_name' in c))
    const list = (await space.client.get(space.v21('dir/'))).body.dirent_list
    assert.partialDeepStrictEqual(list[1], { ...mine, is_freezed: false, lock_owner_contact_email: email })
    assert.partialDeepStrictEqual(list[2], { ...theirs, is_freezed: true, lock_owner_name: 'somebody' })
    assert.partialDeepStrictEqual(list[3], { ...free, is_freezed: false, lock_owner_name: '' })
    const recursive = (await space.client.get(space.v2('dir/'), { recursive: 1 })).body
    assert.partialDeepStrictEqual(recursive[1], mine)
    now += 13 * HOUR
    assert.equal((await space.client.get(space.v2('dir/'))).body[1].is_locked, false)
  })

  it('keep everybody but the holder from changing a locked file', async () => {
    const space = await withFile()
    await space.file('/d/x')
    await space.lockFor('/d/x', somebody)
    const head = await space.head()
    const other = await Workspace.make(server, space.client, 'Other')
    const { client } = space
    const at = { query: { p: '/d/x' } }
    const move = { operation: 'move', dst_repo: space.id, dst_dir: '/' }
    const away = { operation: 'move', dst_repo: other.id, dst_dir: '/' }
    const rename = { operation: 'rename', newname: 'y' }
    const folder = { query: { p: '/d' } }
    const refused = [
      await client.post(space.v2('file/'), { ...at, form: rename }),
      await client.post(space.v21('file/'), { ...at, form: rename }),
      await client.post(space.v2('file/'), { ...at, form: move }),
      await client.post(space.v21('file/'), { ...at, form: move }),
      await client.post(space.v21('file/'), { ...at, form: away }),
      await client.delete(space.v2('file/'), at),
      await client.post(space.v2('dir/'), { ...folder, form: rename }),
      await client.post(space.v21('dir/'), { ...folder, form: rename }),
      await client.delete(space.v2('dir/'), folder),
      await client.delete(space.v21('dir/'), folder),
    ]
    for (const [index, reply] of refused.entries()) {
      assertError(reply, 403, 'File is locked', `call ${index}`)
    }
    assertError(await client.delete(space.v21('file/'), at), 423, 'File is locked')
    assert.equal(await space.head(), head)
    assert.deepEqual(await other.names(), [])
    const copy = { operation: 'copy', dst_repo: other.id, dst_dir: '/' }
    assert.equal((await client.post(space.v21('file/'), { ...at, form: copy })).status, 200)
  })

  it('let the holder change the file, and follow the file', async () => {
    const space = await withFile()
    await older(space, { operation: 'lock', p: '/a' })
    const form = { operation: 'rename', newname: 'b' }
    const renamed = await space.client.post(space.v21('file/'), { query: { p: '/a' }, form })
    assert.deepEqual([renamed.body.obj_name, renamed.body.is_locked], ['b', true])
    const move = { operation: 'move', dst_repo: space.id, dst_dir: '/d' }
    const moved = await space.client.post(space.v21('file/'), { query: { p: '/b' }, form: move })
    assert.deepEqual([moved.body.parent_dir, moved.body.is_locked], ['/d', true])
    assert.equal((await space.client.delete(space.v21('file/'), { query: { p: '/d/b' } })).status, 200)
    await space.file('/d/b')
    assert.equal(await isLocked(space, '/d/b'), false)
  })
})
