import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { batch, fill, HOSTILE, setLibrary, two, UNKNOWN } from './batch-support.ts'
import { assertError, assertReply, NOON, Workspace } from './folders-support.ts'
import {
  CANCEL,
  cancel,
  ended,
  holdTasks,
  INTERNAL,
  progress,
  QUERY,
  start,
  started,
  UNDER_WAY,
} from './tasks-support.ts'

const OPERATIONS = ['copy', 'move'] as const
describe('copies and moves as tasks', () => {
  let server: TestServer
  let time = NOON
  before(async () => {
    // Five for one account at each node.
    server = await startServer({ now: () => time, env: { CARREL_TASKS_AT_ONCE: '10' } })
  })
  after(async () => server[Symbol.asyncDispose]())

  it('are synchronous within one library', async () => {
    for (const operation of OPERATIONS) {
      const [here] = await two(server)
      const reply = await start(here.client, operation, batch(here, ['a.txt', 'd'], here, '/in'))
      assertReply(reply, 200, { task_id: '' })
      assert.deepEqual(await here.names('/in'), ['d', 'a (1).txt', 'a.txt'])
      const verb = operation === 'copy' ? 'Added' : 'Moved'
      assert.equal(await here.lastCommit(), `${verb} "a.txt" and 1 more files`)
    }
  })

  it('copy and move to another library with a file count and one commit on each side', async () => {
    for (const operation of OPERATIONS) {
      const [here, there] = await two(server)
      const id = await started(here.client, operation, batch(here, ['a.txt', 'd', 'b.txt'], there, '/in'))
      const successful = { ...UNDER_WAY, successful: true, done: 4, total: 4 }
      assert.deepEqual(await ended(here.client, id), successful)
      assert.deepEqual(await ended(here.client, id), successful, 'it can be requested again')
      assert.deepEqual(await there.names('/in'), ['d', 'a (1).txt', 'a.txt', 'b.txt'])
      assert.deepEqual(await there.names('/in/d/sub'), ['y'])
      assert.equal(await there.lastCommit(), 'Added "a.txt" and 2 more files')
      assert.deepEqual(await here.names(), operation === 'copy' ? ['d', 'in', 'a.txt', 'b.txt'] : ['in'])
      if (operation === 'move') assert.equal(await here.lastCommit(), 'Deleted "a.txt" and 2 more files')
    }
  })

  it('count an empty folder as no file', async () => {
    const [here, there] = await two(server)
    await here.folder('/empty')
    const id = await started(here.client, 'move', batch(here, ['empty'], there, '/'))
    assert.deepEqual(await ended(here.client, id), { ...UNDER_WAY, successful: true, done: 0, total: 0 })
    assert.deepEqual(await there.names(), ['empty', 'in'])
  })

  it('validate before a task is created, in the documented order', async () => {
    const [here, there] = await two(server)
    const theirs = await Workspace.make(server)
    await here.lockFor('/a.txt', theirs.client)
    const made = await here.client.post('/api2/repos/', { form: { name: 'Secret', passwd: 'a password' } })
    const secret = new Workspace(server, here.client, made.body.repo_id)
    await secret.file('/s.txt')
    const spaces = [here, there, theirs, secret]
    const heads = await Promise.all(spaces.map((space) => space.head()))
    const good = batch(here, ['b.txt'], there, '/in')
    const rows: [body: unknown, status: number, text: string][] = [
      [{}, 400, 'src_repo_id invalid.'],
      [{ ...good, src_parent_dir: '' }, 400, 'src_parent_dir invalid.'],
      [{ ...good, src_dirents: [] }, 400, 'src_dirents invalid.'],
      [{ ...good, dst_repo_id: '' }, 400, 'dst_repo_id invalid.'],
      [{ ...good, dst_parent_dir: '' }, 400, 'dst_parent_dir invalid.'],
      [{ ...good, src_repo_id: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...good, src_parent_dir: '/none', dst_repo_id: UNKNOWN }, 404, 'Folder /none not found.'],
      [{ ...good, dst_repo_id: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...good, dst_parent_dir: '/gone/' }, 404, 'Folder /gone/ not found.'],
      [batch(here, ['b.txt'], theirs, '/'), 403, 'Permission denied.'],
      [batch(theirs, ['b.txt'], here, '/'), 403, 'Permission denied.'],
      [batch(here, ['b.txt', 'none'], there, '/in'), 404, 'none not found.'],
      [batch(here, ['none'], here, '/in'), 404, 'none not found.'],
      [batch(here, ['d'], here, '/d/sub'), 400, 'Can not move folder /d to its subfolder /d/sub'],
      [batch(secret, ['s.txt'], there, '/'), 403, 'This library has not been decrypted.'],
    ]
    for (const operation of OPERATIONS) {
      for (const [body, status, text] of rows) {
        assertError(await start(here.client, operation, body), status, text, JSON.stringify(body))
      }
      const intoSecret = await start(here.client, operation, batch(here, ['none'], secret, '/'))
      assertReply(intoSecret, 403, { lib_need_decrypt: true })
      for (const name of HOSTILE) {
        const { status } = await start(here.client, operation, batch(here, [name], there, '/in'))
        assert.ok(status === 404 || status === 400, `${status} for ${JSON.stringify(name)}`)
      }
    }
    for (const to of [here, there]) {
      const locked = await start(here.client, 'move', batch(here, ['b.txt', 'a.txt'], to, '/in'))
      assertError(locked, 403, 'File a.txt is locked.')
    }
    assert.deepEqual(await Promise.all(spaces.map((space) => space.head())), heads)
  })

  it('leave the destination unchanged until the end, and are visible to their account only', async () => {
    const [here, there] = await two(server)
    using hold = holdTasks(server)
    const id = await started(here.client, 'move', batch(here, ['a.txt', 'd'], there, '/in'))
    await hold.reached
    assert.deepEqual(await progress(here.client, id), { ...UNDER_WAY, done: 0, total: 3 })
    assert.deepEqual(await there.names('/in'), ['a.txt'])
    const other = await server.signUp()
    assertError(await other.get(QUERY, { task_id: id }), 500, 'Error')
    assertReply(await cancel(other, id), 200, { success: true })
    hold.release()
    assert.equal((await ended(here.client, id)).successful, true)
  })

  it('are canceled while running, and leave nothing behind', async () => {
    for (const operation of OPERATIONS) {
      const [here, there] = await two(server)
      const heads = [await here.head(), await there.head()]
      using hold = holdTasks(server)
      const id = await started(here.client, operation, batch(here, ['a.txt', 'd'], there, '/in'))
      await hold.reached
      assertReply(await cancel(here.client, id), 200, { success: true })
      const canceled = { ...UNDER_WAY, canceled: true, done: 0, total: 3 }
      assert.deepEqual(await progress(here.client, id), canceled)
      hold.release()
      // A later task of the same account that is done proves that the canceled one was processed.
      await ended(
        here.client,
        await started(here.client, 'copy', batch(there, ['a.txt'], here, '/in', '/in')),
      )
      assert.deepEqual(await progress(here.client, id), canceled)
      assertError(await cancel(here.client, id), 500, 'Cancel failed')
      assert.equal(await there.head(), heads[1])
    }
  })

  it('are canceled before they start, while five others run', async () => {
    const [here, there] = await two(server)
    const head = await there.head()
    using hold = holdTasks(server)
    const sent = batch(here, ['a.txt'], there, '/in')
    const atOnce = 5 * server.nodes.length
    const running = await Promise.all(
      Array.from({ length: atOnce }, () => started(here.client, 'copy', sent)),
    )
    const states = async () => Promise.all(running.map((id) => progress(here.client, id)))
    while ((await states()).some(({ total }) => total === 0));
    const waiting = await started(here.client, 'copy', batch(here, ['d'], there, '/in'))
    assert.deepEqual(await progress(here.client, waiting), { ...UNDER_WAY, done: 0, total: 0 })
    assertReply(await cancel(here.client, waiting), 200, { success: true })
    assert.equal(await there.head(), head)
    hold.release()
    for (const id of running) assert.equal((await ended(here.client, id)).successful, true)
    assert.deepEqual(await progress(here.client, waiting), {
      ...UNDER_WAY,
      canceled: true,
      done: 0,
      total: 0,
    })
    assert.equal((await there.names('/in')).length, atOnce + 1)
  })

  it('end in exactly one state when a cancellation races the end', async () => {
    const [here, there] = await two(server)
    for (let round = 0; round < 30; round++) {
      const folder = `/round ${round}`
      await there.folder(folder)
      const id = await started(here.client, 'copy', batch(here, ['d'], there, folder))
      for (let polls = 0; polls < round % 4; polls++) await progress(here.client, id)
      const reply = await cancel(here.client, id)
      const end = await ended(here.client, id)
      assert.equal(reply.status, end.canceled ? 200 : 500, `round ${round}`)
      assert.deepEqual(await there.names(folder), end.canceled ? [] : ['d'], `round ${round}`)
    }
  })

  it('fail with a reason and leave nothing behind', async () => {
    type Spaces = { here: Workspace; there: Workspace }
    const rows: [reason: string, spoil: (spaces: Spaces) => Promise<unknown>][] = [
      ['Invalid arguments', ({ there }) => there.client.delete(there.v2('dir/'), { query: { p: '/in' } })],
      ['Invalid arguments', ({ there }) => there.client.delete(`/api2/repos/${there.id}/`)],
      [
        'Quota is full',
        async ({ there }) => {
          await server.running.services.accounts.update(there.client.email, { quota: 10 }, undefined)
          await setLibrary(server, there, 'size = 10')
        },
      ],
    ]
    for (const [reason, spoil] of rows) {
      const [here, there] = await two(server)
      const hold = holdTasks(server)
      const id = await started(here.client, 'move', batch(here, ['a.txt', 'd'], there, '/in'))
      await hold.reached
      await spoil({ here, there })
      const head = await here.head()
      hold.release()
      const failed = { ...UNDER_WAY, failed: true, failed_reason: reason, total: 3 }
      const end = await ended(here.client, id)
      assert.deepEqual({ ...end, done: 0 }, { ...failed, done: 0 })
      assertError(await cancel(here.client, id), 500, 'Cancel failed')
      assert.equal(await here.head(), head)
      if (reason === 'Quota is full') assert.deepEqual(await there.names('/in'), ['a.txt'])
    }
  })

  it('keep entries that were changed or locked during a move, and report a failure', async () => {
    const spoil = [
      (here: Workspace, other: Client) => here.lockFor('/d/x', other),
      (here: Workspace) => here.file('/d/new'),
      (here: Workspace) => here.client.delete(here.v2('dir/'), { query: { p: '/d' } }),
    ]
    for (const [index, change] of spoil.entries()) {
      const [here, there] = await two(server)
      const other = await server.signUp()
      const hold = holdTasks(server)
      const id = await started(here.client, 'move', batch(here, ['a.txt', 'd'], there, '/in'))
      await hold.reached
      await change(here, other)
      const before = await here.names()
      hold.release()
      const end = await ended(here.client, id)
      assert.deepEqual(
        { ...end, done: 3 },
        { ...UNDER_WAY, failed: true, failed_reason: INTERNAL, done: 3, total: 3 },
      )
      assert.deepEqual(await here.names(), before, `case ${index}`)
    }
  })

  it('let one of two moves of the same entry succeed', async () => {
    const [here, there] = await two(server)
    const sent = batch(here, ['a.txt'], there, '/')
    using hold = holdTasks(server)
    const ids = [await started(here.client, 'move', sent), await started(here.client, 'move', sent)]
    hold.release()
    const ends = await Promise.all(ids.map((id) => ended(here.client, id)))
    assert.equal(ends.filter((end) => end.successful).length, 1)
    assert.equal((await here.names()).includes('a.txt'), false)
    assert.equal((await there.names()).includes('a.txt'), true)
  })

  it('can be queried for an hour after their end', async () => {
    const [here, there] = await two(server)
    const id = await started(here.client, 'copy', batch(here, ['a.txt'], there, '/'))
    const end = await ended(here.client, id)
    try {
      time = NOON + 3599
      await server.running.services.copyMoveTasks.deleteEnded()
      assert.deepEqual(await progress(here.client, id), end)
      assertError(await cancel(here.client, id), 500, 'Cancel failed')
      time = NOON + 3600
      assertError(await here.client.get(QUERY, { task_id: id }), 500, 'Error')
      assertReply(await cancel(here.client, id), 200, { success: true })
      await server.running.services.copyMoveTasks.deleteEnded()
      const { db } = server.running.services
      assert.equal(await db.get('select id from copy_move_task where id = ?', id), undefined)
    } finally {
      time = NOON
    }
  })

  it('reject queries for unknown tasks', async () => {
    const client = await server.signUp()
    for (const task_id of [UNKNOWN, 'x', '__proto__', "' or 1=1 --", 'x'.repeat(5000)]) {
      assertError(await client.get(QUERY, { task_id }), 500, 'Error')
      for (const encoding of ['json', 'form', 'multipart'] as const) {
        assertReply(await client.delete(CANCEL, { [encoding]: { task_id } }), 200, { success: true })
      }
    }
    for (const query of [{}, { task_id: '' }, { task_id: '\0' }]) {
      assertError(await client.get(QUERY, query), 400, 'task_id invalid.')
      assertError(await client.delete(CANCEL, { form: query }), 400, 'task_id invalid.')
    }
    assert.equal((await server.anonymous.get(QUERY)).status, 403)
    assert.equal((await server.anonymous.delete(CANCEL)).status, 403)
    for (const operation of OPERATIONS) {
      assert.equal((await start(server.anonymous, operation, {})).status, 403)
    }
  })

  it('copy 10,000 files to another library, with access to their blocks', async () => {
    const [here, there] = await two(server)
    const names = Array.from({ length: 10_000 }, (_, n) => `a file with a rather long name, number ${n}`)
    await fill(server, here, '/d/sub', names)
    const id = await started(here.client, 'copy', batch(here, ['d'], there, '/'))
    const successful = { ...UNDER_WAY, successful: true, done: 10_002, total: 10_002 }
    assert.deepEqual(await ended(here.client, id), successful)
    assert.equal((await there.names('/d/sub')).length, 10_001)
    const held = await server.running.services.db.get<{ blocks: number }>(
      'select count(*) as blocks from library_block b join library l on l.key = b.library_key where l.id = ?',
      there.id,
    )
    assert.equal(held?.blocks, 10_000)
  })
})
