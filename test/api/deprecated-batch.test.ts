import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { HOSTILE, setLibrary, two, UNKNOWN } from './batch-support.ts'
import { assertError, assertReply, NOON, Workspace } from './folders-support.ts'
import { ended } from './tasks-support.ts'

const OPERATIONS = ['copy', 'move'] as const
type Operation = (typeof OPERATIONS)[number]

let server: TestServer
before(async () => {
  server = await startServer({ now: () => NOON })
})
after(async () => server[Symbol.asyncDispose]())

describe('batch copy and move with paths', () => {
  type Item = { src_path: string; dst_path: string }
  const post = (client: Client, operation: Operation, json: unknown) =>
    client.post(`/api/v2.1/repos/batch-${operation}-item/`, { json })
  const body = (from: Workspace, to: Workspace, paths: readonly (readonly [string, string])[]) => ({
    src_repo_id: from.id,
    dst_repo_id: to.id,
    paths: paths.map(([src_path, dst_path]): Item => ({ src_path, dst_path })),
  })

  it('processes each item separately, and reports successes and failures', async () => {
    for (const operation of OPERATIONS) {
      for (const across of [false, true]) {
        const [here, there] = await two(server)
        const target = across ? there : here
        const ids = { src_repo_id: here.id, dst_repo_id: target.id }
        const sent = body(here, target, [
          ['a.txt', '/in'],
          ['/a', '/gone/'],
          ['/b.txt', '/gone'],
          ['/d/', 'in/'],
          ['/d/x/', '/in/'],
        ])
        const moved = operation === 'move'
        const reply = await post(here.client, operation, sent)
        assertReply(reply, 200, {
          failed: [
            { ...ids, src_path: '/a/', dst_path: '/gone/', error_msg: '/a/ not found.' },
            { ...ids, src_path: '/b.txt/', dst_path: '/gone/', error_msg: 'Folder /gone/ not found.' },
            ...(moved
              ? [{ ...ids, src_path: '/d/x/', dst_path: '/in/', error_msg: '/d/x/ not found.' }]
              : []),
          ],
          success: [
            { ...ids, src_path: '/a.txt/', dst_path: '/in/', dst_obj_name: 'a (1).txt' },
            { ...ids, src_path: '/d/', dst_path: '/in/', dst_obj_name: 'd' },
            ...(moved ? [] : [{ ...ids, src_path: '/d/x/', dst_path: '/in/', dst_obj_name: 'x' }]),
          ],
        })
        const names = ['d', 'a (1).txt', 'a.txt', ...(moved ? [] : ['x'])]
        assert.deepEqual(await target.names('/in'), names)
        assert.deepEqual(await here.names(), moved ? ['in', 'b.txt'] : ['d', 'in', 'a.txt', 'b.txt'])
      }
    }
  })

  it('creates a commit for every item', async () => {
    const [here, there] = await two(server)
    const commits = async () => (await there.client.get(there.v21('history/'))).body.data.length
    const before = await commits()
    await post(
      here.client,
      'copy',
      body(here, there, [
        ['/a.txt', '/'],
        ['/b.txt', '/'],
      ]),
    )
    assert.equal(await commits(), before + 2)
  })

  it('explains the failure of each item, in the documented order of checks', async () => {
    const [here, there] = await two(server)
    const long = `/${'a'.repeat(250)}`.repeat(17)
    const inside = "The destination directory is the same as the source, or is it's subfolder."
    const rows: [to: Workspace, src: string, dst: string, text: string][] = [
      [here, '/', '/in', inside],
      [here, '/d', '/d', inside],
      [here, '/d', '/d/sub/', inside],
      [here, '/none', '/none/gone', inside],
      [there, '/', '/in', "The source path can not be '/'."],
      [there, '/', long, "The source path can not be '/'."],
      [there, '', '/in', "The source path can not be '/'."],
      [there, '/none', long, "'Destination path is too long."],
      [there, '/none', '/gone', '/none/ not found.'],
      [there, '/a.txt', '/gone', 'Folder /gone/ not found.'],
      [there, '/a.txt', '/in/a.txt', 'Folder /in/a.txt/ not found.'],
    ]
    for (const operation of OPERATIONS) {
      const heads = [await here.head(), await there.head()]
      for (const [to, src, dst, text] of rows) {
        const reply = await post(here.client, operation, body(here, to, [[src, dst]]))
        assert.equal(reply.status, 200)
        assert.deepEqual(reply.body.success, [])
        assert.equal(reply.body.failed[0].error_msg, text, `${src} to ${dst}`)
      }
      for (const text of HOSTILE) {
        const reply = await post(
          here.client,
          operation,
          body(here, there, [
            [text, '/none'],
            ['/none', text],
          ]),
        )
        assert.deepEqual([reply.status, reply.body.success], [200, []])
      }
      assert.deepEqual([await here.head(), await there.head()], heads)
    }
  })

  it('reports failures of the library', async () => {
    const [here, there] = await two(server)
    const other = await server.signUp()
    await here.lockFor('/a.txt', other)
    const message = async (operation: Operation, from: Workspace, to: Workspace) => {
      const reply = await post(here.client, operation, body(from, to, [['/a.txt', '/in']]))
      assert.equal(reply.status, 200, reply.text)
      return reply.body.failed[0]?.error_msg
    }
    assert.equal(await message('move', here, there), 'Internal Server Error')
    assert.equal(await message('copy', here, there), undefined)
    await setLibrary(server, there, 'size = 10')
    await server.running.services.accounts.update(here.client.email, { quota: 10 }, undefined)
    assert.equal(await message('copy', here, there), 'Internal Server Error')
    await server.running.services.accounts.update(here.client.email, { quota: 0 }, undefined)
    await here.makeReadOnly()
    assert.equal(await message('copy', here, there), undefined)
    assert.equal(await message('move', here, there), 'Permission denied.')
    assert.equal(await message('copy', here, here), 'Permission denied.')
  })

  it('does nothing when an entry is moved to its own folder', async () => {
    const [here] = await two(server)
    const head = await here.head()
    const reply = await post(here.client, 'move', body(here, here, [['/d/x', '/d']]))
    assert.equal(reply.body.success[0].dst_obj_name, 'x')
    assert.equal(await here.head(), head)
  })

  it('validates the request in the documented order', async () => {
    const [here, there] = await two(server)
    const theirs = await Workspace.make(server)
    const good = body(here, there, [['/a.txt', '/in']])
    const rows: [body: unknown, status: number, text: string][] = [
      [{}, 400, 'paths invalid.'],
      [{ ...good, paths: [], src_repo_id: '' }, 400, 'paths invalid.'],
      [{ ...good, paths: '/a.txt' }, 400, 'paths invalid.'],
      [{ ...good, paths: ['/a.txt'] }, 400, 'paths invalid.'],
      [{ ...good, paths: [null] }, 400, 'paths invalid.'],
      [{ ...good, paths: [{ src_path: '/a.txt' }] }, 400, 'paths invalid.'],
      [{ ...good, paths: [{ src_path: 1, dst_path: '/' }] }, 400, 'paths invalid.'],
      [{ ...good, src_repo_id: '', dst_repo_id: '' }, 400, 'src_repo_id invalid.'],
      [{ ...good, dst_repo_id: '' }, 400, 'dst_repo_id invalid.'],
      [{ ...good, src_repo_id: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...good, dst_repo_id: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...good, src_repo_id: 'x' }, 404, 'Library x not found.'],
      [{ ...good, src_repo_id: theirs.id }, 403, 'Permission denied.'],
      [{ ...good, dst_repo_id: theirs.id }, 403, 'Permission denied.'],
    ]
    for (const operation of OPERATIONS) {
      for (const [json, status, text] of rows) {
        assertError(await post(here.client, operation, json), status, text, JSON.stringify(json))
      }
      assert.equal((await post(server.anonymous, operation, good)).status, 403)
    }
  })
})

describe('a single copy or move as a task', () => {
  const URL = '/api/v2.1/copy-move-task/'
  const body = (
    operation: Operation,
    from: Workspace,
    name: string,
    to: Workspace,
    dst_parent_dir: string,
  ) => ({
    src_repo_id: from.id,
    src_parent_dir: '/',
    src_dirent_name: name,
    dst_repo_id: to.id,
    dst_parent_dir,
    operation,
    dirent_type: name.includes('.') ? 'file' : 'dir',
  })

  it('is synchronous within one library, in any encoding', async () => {
    for (const encoding of ['form', 'multipart', 'json'] as const) {
      for (const operation of OPERATIONS) {
        const [here] = await two(server)
        for (const name of ['a.txt', 'd']) {
          const sent = { [encoding]: body(operation, here, name, here, '/in') }
          assertReply(await here.client.post(URL, sent), 200, { task_id: '' })
        }
        assert.deepEqual(await here.names('/in'), ['d', 'a (1).txt', 'a.txt'])
        assert.equal((await here.names()).includes('a.txt'), operation === 'copy')
      }
    }
  })

  it('is a task across libraries', async () => {
    for (const operation of OPERATIONS) {
      const [here, there] = await two(server)
      const reply = await here.client.post(URL, { form: body(operation, here, 'd', there, '/in') })
      assert.deepEqual(await ended(here.client, reply.body.task_id), {
        canceled: false,
        failed: false,
        successful: true,
        failed_reason: '',
        done: 2,
        total: 2,
      })
      assert.deepEqual(await there.names('/in'), ['d', 'a.txt'])
    }
  })

  it('validates in the documented order, and changes nothing on a rejection', async () => {
    const [here, there] = await two(server)
    const theirs = await Workspace.make(server)
    await here.lockFor('/b.txt', theirs.client)
    const heads = [await here.head(), await there.head(), await theirs.head()]
    const good = body('move', here, 'a.txt', there, '/in')
    const long = `/${'a'.repeat(250)}`.repeat(17)
    const rows: [body: object, status: number, text: string][] = [
      [{}, 400, 'src_repo_id invalid.'],
      [{ ...good, src_parent_dir: '' }, 400, 'src_parent_dir invalid.'],
      [{ ...good, src_dirent_name: '' }, 400, 'src_dirent_name invalid.'],
      [{ ...good, dst_repo_id: '' }, 400, 'dst_repo_id invalid.'],
      [{ ...good, dst_parent_dir: '', operation: '' }, 400, 'dst_parent_dir invalid.'],
      [{ ...good, operation: '', dirent_type: '' }, 400, 'operation invalid.'],
      [{ ...good, operation: 'link', dirent_type: '' }, 400, "operation can only be 'move' or 'copy'."],
      [{ ...good, dirent_type: '' }, 400, 'dirent_type invalid.'],
      [{ ...good, dirent_type: 'link' }, 400, "operation can only be 'file' or 'dir'."],
      [{ ...good, dst_parent_dir: long, src_repo_id: UNKNOWN }, 400, 'Destination path is too long.'],
      [{ ...good, dst_repo_id: here.id, dst_parent_dir: '/' }, 400, 'Invalid destination path'],
      [body('move', here, 'd', here, '/d/'), 400, 'Can not move folder /d to its subfolder /d'],
      [body('copy', here, 'd', here, '/d/sub'), 400, 'Can not move folder /d to its subfolder /d/sub'],
      [{ ...good, src_repo_id: UNKNOWN, dst_repo_id: 'x' }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...good, src_dirent_name: 'none.txt', dst_repo_id: 'x' }, 404, 'File /none.txt not found.'],
      [{ ...good, dirent_type: 'dir', dst_repo_id: 'x' }, 404, 'Folder /a.txt not found.'],
      [{ ...good, src_dirent_name: 'd' }, 404, 'File /d not found.'],
      [{ ...good, src_dirent_name: 'd/x' }, 404, 'File /d/x not found.'],
      [{ ...good, dst_repo_id: 'x', dst_parent_dir: '/none' }, 404, 'Library x not found.'],
      [{ ...good, dst_parent_dir: '/none' }, 404, 'Folder /none not found.'],
      [{ ...good, src_repo_id: theirs.id }, 403, 'Permission denied.'],
      [{ ...good, dst_repo_id: theirs.id, dst_parent_dir: '/' }, 403, 'Permission denied.'],
      [body('move', here, 'b.txt', there, '/in'), 403, 'File is locked'],
      [body('move', here, 'b.txt', here, '/in'), 403, 'File is locked'],
    ]
    for (const [form, status, text] of rows) {
      assertError(await here.client.post(URL, { json: form }), status, text, JSON.stringify(form))
    }
    for (const text of HOSTILE) {
      for (const name of [
        'src_dirent_name',
        'src_parent_dir',
        'src_repo_id',
        'dst_parent_dir',
        'dst_repo_id',
      ]) {
        const json = { ...good, src_dirent_name: 'none', [name]: text }
        const { status } = await here.client.post(URL, { json })
        assert.ok(status === 400 || status === 404, `${status} for ${name} ${JSON.stringify(text)}`)
      }
    }
    assert.deepEqual([await here.head(), await there.head(), await theirs.head()], heads)
    assert.equal((await server.anonymous.post(URL, { form: good })).status, 403)
  })

  it('counts copies against the quota, and moves only between owners', async () => {
    const [here, there] = await two(server)
    await server.running.services.accounts.update(here.client.email, { quota: 10 }, undefined)
    await setLibrary(server, there, 'size = 10')
    for (const to of [here, there]) {
      const reply = await here.client.post(URL, { form: body('copy', here, 'a.txt', to, '/in') })
      assertError(reply, 443, 'Out of quota.')
    }
    const moved = await here.client.post(URL, { form: body('move', here, 'a.txt', here, '/in') })
    assertReply(moved, 200, { task_id: '' })
  })
})

describe('moving a folder into one of the same name', () => {
  const URL = '/api/v2.1/move-folder-merge/'
  const body = (from: Workspace, src_dirent_name: string, to: Workspace, dst_parent_dir: string) => ({
    src_repo_id: from.id,
    src_parent_dir: '/',
    src_dirent_name,
    dst_repo_id: to.id,
    dst_parent_dir,
  })

  it('merges the two, and renames only files', async () => {
    for (const across of [false, true]) {
      const [here, there] = await two(server)
      const target = across ? there : here
      await target.folder('/in/d/sub')
      for (const file of ['/in/d/x', '/in/d/sub/z']) await target.file(file)
      await here.folder('/d/only')
      assertReply(await here.client.post(URL, { form: body(here, 'd', target, '/in') }), 200, {
        success: true,
      })
      assert.deepEqual(await target.names('/in/d'), ['only', 'sub', 'x', 'x (1)'])
      assert.deepEqual(await target.names('/in/d/sub'), ['y', 'z'])
      assert.deepEqual(await here.names(), ['in', 'a.txt', 'b.txt'])
    }
  })

  it('moves the folder if there is no conflict, and does nothing if it is already there', async () => {
    const [here, there] = await two(server)
    assertReply(await here.client.post(URL, { json: body(here, 'd', here, '/') }), 200, { success: true })
    assertReply(await here.client.post(URL, { json: body(here, 'd', there, '/in') }), 200, { success: true })
    assert.deepEqual(await there.names('/in/d'), ['sub', 'x'])
  })

  it('rejects impossible moves, and changes nothing', async () => {
    const [here, there] = await two(server)
    const theirs = await Workspace.make(server)
    await here.lockFor('/in/a.txt', theirs.client)
    const heads = [await here.head(), await there.head()]
    const good = body(here, 'd', there, '/in')
    const rows: [body: object, status: number, text: string][] = [
      [{ ...good, src_repo_id: '' }, 400, 'src_repo_id invalid.'],
      [{ ...good, src_parent_dir: '' }, 400, 'src_parent_dir invalid.'],
      [{ ...good, src_dirent_name: '' }, 400, 'src_dirent_name invalid.'],
      [{ ...good, dst_repo_id: '' }, 400, 'dst_repo_id invalid.'],
      [{ ...good, dst_parent_dir: '' }, 400, 'dst_parent_dir invalid.'],
      [{ ...good, src_repo_id: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...good, src_parent_dir: '/none' }, 404, 'Folder /none not found.'],
      [{ ...good, src_dirent_name: 'none' }, 404, 'Folder /none not found.'],
      [{ ...good, src_dirent_name: 'a.txt' }, 404, 'Folder /a.txt not found.'],
      [{ ...good, src_dirent_name: 'd/sub' }, 404, 'Folder /d/sub not found.'],
      [{ ...good, dst_repo_id: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...good, dst_parent_dir: '/none' }, 404, 'Folder /none not found.'],
      [body(here, 'd', theirs, '/'), 403, 'Permission denied.'],
      [body(here, 'd', here, '/d/sub'), 400, 'Can not move folder /d to its subfolder /d/sub'],
      [body(here, 'in', there, '/'), 403, 'File a.txt is locked.'],
      [body(here, 'in', here, '/d'), 403, 'File a.txt is locked.'],
    ]
    for (const [json, status, text] of rows) {
      assertError(await here.client.post(URL, { json }), status, text, JSON.stringify(json))
    }
    assert.deepEqual([await here.head(), await there.head()], heads)
    assert.equal((await server.anonymous.post(URL, { json: good })).status, 403)
  })
})
