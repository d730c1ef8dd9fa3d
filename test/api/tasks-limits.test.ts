import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { MAX_TASKS } from '../../src/maintenance/jobs/copy-move-tasks.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { batch, fill, two } from './batch-support.ts'
import { ended, holdTasks, progress, start, started, UNDER_WAY } from './tasks-support.ts'

describe('the limits of tasks', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({
      env: { CARREL_MAX_COPY_FILES: '5', CARREL_MAX_COPY_MB: '0.003', CARREL_TASKS_AT_ONCE: '1' },
    })
  })
  after(async () => server[Symbol.asyncDispose]())

  it('fail a task that exceeds the size limit, and leave nothing behind', async () => {
    const [here, there] = await two(server)
    // The folder already has two files, both empty.
    await fill(server, here, '/d', ['1', '2', '3'])
    const atMost = await started(here.client, 'copy', batch(here, ['d'], there, '/'))
    assert.deepEqual(await ended(here.client, atMost), {
      ...UNDER_WAY,
      successful: true,
      done: 5,
      total: 5,
    })
    const head = await there.head()
    const rows: [names: string[], reason: string][] = [
      [['d', 'a.txt'], 'Too many files'],
      [['e'], 'Folder or file size is too large'],
    ]
    await here.folder('/e')
    await fill(server, here, '/e', ['1', '2', '3', '4'])
    for (const operation of ['copy', 'move'] as const) {
      for (const [names, failed_reason] of rows) {
        const id = await started(here.client, operation, batch(here, names, there, '/in'))
        const end = await ended(here.client, id)
        assert.deepEqual(
          { ...end, done: 0, total: 0 },
          { ...UNDER_WAY, failed: true, failed_reason, done: 0, total: 0 },
        )
      }
    }
    assert.equal(await there.head(), head)
    assert.deepEqual(await here.names(), ['d', 'e', 'in', 'a.txt', 'b.txt'])
  })

  it('bound the number of concurrent tasks', async () => {
    const [here, there] = await two(server)
    using hold = holdTasks(server)
    const first = await started(here.client, 'copy', batch(here, ['a.txt'], there, '/'))
    await hold.reached
    const second = await started(here.client, 'copy', batch(here, ['b.txt'], there, '/'))
    assert.deepEqual(await progress(here.client, first), { ...UNDER_WAY, done: 0, total: 1 })
    assert.deepEqual(await progress(here.client, second), { ...UNDER_WAY, done: 0, total: 0 })
    hold.release()
    for (const id of [first, second]) assert.equal((await ended(here.client, id)).successful, true)
    assert.deepEqual(await there.names(), ['in', 'a.txt', 'b.txt'])
  })

  it('bound the unfinished tasks of an account', async () => {
    const [here, there] = await two(server)
    using hold = holdTasks(server)
    const first = await started(here.client, 'copy', batch(here, ['a.txt'], there, '/'))
    await hold.reached
    const { db } = server.running.services
    const columns = `account_key, epoch, operation, source_key, parent, names, target_key, folder, state, created_at, updated_at`
    await db.write((tx) =>
      tx.run(
        `with recursive n (i) as (select 2 union all select i + 1 from n where i < ${MAX_TASKS})
         insert into copy_move_task (id, ${columns}) select 'many ' || n.i, ${columns} from copy_move_task, n where id = ?`,
        first,
      ),
    )
    const beyond = await start(here.client, 'copy', batch(here, ['b.txt'], there, '/'))
    assert.equal(beyond.status, 429, beyond.text)
    assert.equal(beyond.headers.get('retry-after'), '60')
    assert.equal((await start(there.client, 'copy', batch(there, ['in'], here, '/'))).status, 429)
    const [other, elsewhere] = await two(server)
    await started(other.client, 'copy', batch(other, ['a.txt'], elsewhere, '/'))
    await db.write((tx) => tx.run("delete from copy_move_task where id like 'many %'"))
    hold.release()
    assert.equal((await ended(here.client, first)).successful, true)
  })
})
