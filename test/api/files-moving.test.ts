import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { assertError, assertReply, EMPTY, NOON, NOON_TEXT, Workspace } from './folders-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'

describe('moving and copying', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ now: () => NOON })
  })
  after(async () => server[Symbol.asyncDispose]())

  type Operation = 'move' | 'copy'
  const form = (operation: Operation, to: Workspace, dst_dir: string) => ({
    operation,
    dst_repo: to.id,
    dst_dir,
  })

  /** Two libraries of one account: `/a.txt` and `/d/x` here, `/123/a.txt` here and there. */
  async function two(): Promise<[here: Workspace, there: Workspace]> {
    const here = await Workspace.make(server)
    const there = await Workspace.make(server, here.client, 'Other')
    await here.folder('/d')
    for (const space of [here, there]) {
      await space.folder('/123')
      await space.file('/123/a.txt')
    }
    await here.file('/a.txt')
    await here.file('/d/x')
    return [here, there]
  }

  it('moves with 301 and copies with 200 through api2, and returns the destination', async () => {
    for (const [operation, status] of [
      ['move', 301],
      ['copy', 200],
    ] as const) {
      for (const across of [false, true]) {
        const [here, there] = await two()
        const target = across ? there : here
        const reply = await here.client.post(here.v2('file/'), {
          query: { p: '/a.txt' },
          form: form(operation, target, '/123'),
        })
        assertReply(reply, status, { repo_id: target.id, parent_dir: '/123/', obj_name: 'a (1).txt' })
        const location = `${server.url}${target.v2('file/')}?p=/123/a%20%281%29.txt`
        assert.equal(reply.headers.get('location'), location)
        assert.deepEqual(await target.names('/123'), ['a (1).txt', 'a.txt'])
        const left = ['123', 'd', ...(operation === 'copy' ? ['a.txt'] : [])]
        assert.deepEqual(await here.names(), left)
        const added = operation === 'move' && !across ? 'Moved "a.txt"' : 'Added "a.txt"'
        assert.equal(await target.lastCommit(), added)
        if (operation === 'move' && across) assert.equal(await here.lastCommit(), 'Deleted "a.txt"')
      }
    }
  })

  it('moves and copies folders with their content through api2', async () => {
    for (const operation of ['move', 'copy'] as const) {
      const [here, there] = await two()
      const options = { query: { p: '/d' }, form: form(operation, there, '/123/') }
      const reply = await here.client.post(here.v2('file/'), options)
      assert.deepEqual(reply.body, { repo_id: there.id, parent_dir: '/123/', obj_name: 'd' })
      assert.deepEqual(await there.names('/123/d'), ['x'])
    }
  })

  it('does nothing when an entry is moved to its own folder', async () => {
    const [here] = await two()
    const head = await here.head()
    for (const [p, dst_dir] of [
      ['/a.txt', '/'],
      ['/d/x', '/d/'],
      ['/d/x', 'd'],
    ] as const) {
      const options = { query: { p }, form: form('move', here, dst_dir) }
      assertReply(await here.client.post(here.v2('file/'), options), 200, 'success')
      const newer = await here.client.post(here.v21('file/'), options)
      assert.equal(newer.status, 200)
      assert.equal(newer.body.obj_name, p.split('/').at(-1))
    }
    assert.equal(await here.head(), head)
  })

  it('copies into the same folder under another name', async () => {
    const [here] = await two()
    const options = { query: { p: '/a.txt' }, form: form('copy', here, '/') }
    const reply = await here.client.post(here.v2('file/'), options)
    assertReply(reply, 200, { repo_id: here.id, parent_dir: '/', obj_name: 'a (1).txt' })
  })

  it('returns the listing of the destination on request', async () => {
    const [here, there] = await two()
    for (const operation of ['copy', 'move'] as const) {
      const reply = await here.client.post(here.v2('file/'), {
        query: { p: '/d/x', reloaddir: 'true' },
        form: form(operation, there, '/123'),
      })
      assert.equal(reply.status, 200)
      assert.ok(reply.body.some((entry: { name: string }) => entry.name === 'x'))
    }
  })

  it('returns the file at its destination through v2.1', async () => {
    for (const operation of ['move', 'copy'] as const) {
      for (const across of [false, true]) {
        const [here, there] = await two()
        const target = across ? there : here
        const reply = await here.client.post(here.v21('file/'), {
          query: { p: '/a.txt' },
          json: form(operation, target, '/123/'),
        })
        assertReply(reply, 200, {
          type: 'file',
          repo_id: target.id,
          parent_dir: '/123',
          obj_name: 'a (1).txt',
          obj_id: EMPTY,
          size: 0,
          mtime: NOON_TEXT,
          is_locked: false,
          can_preview: true,
          can_edit: true,
        })
      }
    }
  })

  it('rejects moving or copying a folder into itself', async () => {
    const [here] = await two()
    await here.folder('/d/sub')
    const head = await here.head()
    for (const operation of ['move', 'copy'] as const) {
      for (const dst_dir of ['/d', '/d/sub']) {
        const options = { query: { p: '/d' }, form: form(operation, here, dst_dir) }
        const text = `Can not move folder /d to its subfolder ${dst_dir}`
        assertError(await here.client.post(here.v2('file/'), options), 400, text)
      }
    }
    assert.equal(await here.head(), head)
  })

  it('rejects invalid operations through api2, and changes nothing', async () => {
    const [here, there] = await two()
    const heads = [await here.head(), await there.head()]
    const theirs = await Workspace.make(server)
    for (const operation of ['move', 'copy'] as const) {
      const rows: [p: string, form: Record<string, string>, status: number, text: string][] = [
        ['a.txt', form(operation, there, '/'), 400, 'Path is missing or invalid.'],
        ['/', form(operation, there, '/'), 400, 'Path is missing or invalid.'],
        ['/a.txt', { operation, dst_dir: '/' }, 400, 'Missing arguments.'],
        ['/a.txt', { operation, dst_repo: there.id, dst_dir: '' }, 400, 'Missing arguments.'],
        ['/none', { operation, dst_repo: UNKNOWN, dst_dir: '/' }, 404, `Library ${UNKNOWN} not found.`],
        ['/none', { operation, dst_repo: 'x', dst_dir: '/' }, 404, 'Library x not found.'],
        ['/none', form(operation, there, '/none'), 404, 'Folder /none not found.'],
        ['/none', form(operation, there, '/'), 404, 'File /none not found.'],
        ['/a.txt', form(operation, there, '/123/a.txt'), 404, 'Folder /123/a.txt not found.'],
        ['/a.txt', form(operation, theirs, '/'), 403, `You do not have permission to ${operation} file.`],
      ]
      for (const [p, sent, status, text] of rows) {
        const reply = await here.client.post(here.v2('file/'), { query: { p }, form: sent })
        assertError(reply, status, text, `${p} ${JSON.stringify(sent)}`)
      }
    }
    assert.deepEqual([await here.head(), await there.head()], heads)
  })

  it('rejects invalid operations through v2.1, and changes nothing', async () => {
    const [here, there] = await two()
    const heads = [await here.head(), await there.head()]
    const theirs = await Workspace.make(server)
    for (const operation of ['move', 'copy'] as const) {
      const missing = operation === 'move' ? 'dst_repo invalid.' : 'dst_repo_id invalid.'
      const rows: [p: string, form: Record<string, string>, status: number, text: string][] = [
        ['/a.txt', { operation, dst_dir: '/' }, 400, missing],
        ['/a.txt', { operation, dst_repo: there.id }, 400, 'dst_dir invalid.'],
        ['/none', { operation, dst_repo: UNKNOWN, dst_dir: '/' }, 404, 'File /none not found.'],
        ['/d', form(operation, there, '/'), 404, 'File /d not found.'],
        ['/a.txt', { operation, dst_repo: UNKNOWN, dst_dir: '/' }, 404, `Library ${UNKNOWN} not found.`],
        ['/a.txt', form(operation, there, '/none'), 404, 'Folder /none not found.'],
        ['/a.txt', form(operation, theirs, '/'), 403, 'Permission denied.'],
      ]
      for (const [p, sent, status, text] of rows) {
        const reply = await here.client.post(here.v21('file/'), { query: { p }, form: sent })
        assertError(reply, status, text, `${p} ${JSON.stringify(sent)}`)
      }
    }
    assert.deepEqual([await here.head(), await there.head()], heads)
  })

  it('copies from a read-only library, but moves nothing out of or into it', async () => {
    const [here, there] = await two()
    await here.makeReadOnly()
    const options = (operation: Operation, to: Workspace) => ({
      query: { p: '/a.txt' },
      form: form(operation, to, '/'),
    })
    const denied = 'Permission denied.'
    assert.equal((await here.client.post(here.v21('file/'), options('copy', there))).status, 200)
    assertError(await here.client.post(here.v21('file/'), options('move', there)), 403, denied)
    const into = { query: { p: '/123/a.txt' }, form: form('copy', here, '/') }
    assertError(await there.client.post(there.v21('file/'), into), 403, denied)
  })

  it('rejects a copy beyond the quota of the owner', async () => {
    const [here, there] = await two()
    await server.running.services.accounts.update(here.client.email, { quota: 1 }, undefined)
    const { core } = server.running.services
    await dbOf(core).write((tx) => tx.run('update library set size = 1 where id = ?', there.id))
    for (const url of [here.v2('file/'), here.v21('file/')]) {
      const options = { query: { p: '/a.txt' }, form: form('copy', there, '/') }
      assertError(await here.client.post(url, options), 443, 'Out of quota.')
    }
  })
})
