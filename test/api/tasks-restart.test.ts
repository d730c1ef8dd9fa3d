import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it, mock } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { batch, syncBatch, two } from './batch-support.ts'
import { Workspace } from './folders-support.ts'
import { ended } from './tasks-support.ts'

async function dataFolder() {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-test-'))
  return { data, [Symbol.asyncDispose]: () => rm(data, { recursive: true, force: true }) }
}

/** Restarts on the same data and points the workspaces to the new server. */
async function restart(server: TestServer, spaces: readonly Workspace[]) {
  await server[Symbol.asyncDispose]()
  // One of the tasks fails on purpose, which is logged.
  const next = await startServer({
    data: server.data,
    env: { CARREL_LOG: 'silent', CARREL_TASKS_AT_ONCE: '10' },
  })
  const moved = spaces.map(({ client, id }) => {
    return new Workspace(next, new Client(next.url, client.token, client.email), id)
  })
  return { next, moved }
}

it('a task resumes after a restart, and copies nothing twice', async () => {
  await using folder = await dataFolder()
  // Five of them for one account.
  const server = await startServer({ data: folder.data, env: { CARREL_TASKS_AT_ONCE: '10' } })
  const [here, there] = await two(server)
  const { copyMoveTasks, core, quotas } = server.running.services
  const gate = Promise.withResolvers<undefined>()
  const reached = Promise.withResolvers<undefined>()
  mock.method(quotas, 'roomLeft', () => {
    reached.resolve(undefined)
    return gate.promise
  })
  const post = async (operation: 'copy' | 'move', name: string) => {
    const json = batch(here, [name], there, '/in')
    const reply = await here.client.post(`/api/v2.1/repos/async-batch-${operation}-item/`, { json })
    return reply.body.task_id as string
  }
  const running = [await post('move', 'd'), await post('copy', 'a.txt')]
  for (let n = 0; n < 3; n++) running.push(await post('copy', 'b.txt'))
  const queued = await post('move', 'b.txt')
  await reached.promise
  const stopped = copyMoveTasks[Symbol.asyncDispose]()
  gate.resolve(undefined)
  await stopped
  const states = await dbOf(core).all<{ state: string }>('select state from copy_move_task order by key')
  assert.deepEqual(
    states.map(({ state }) => state),
    [...Array<string>(5).fill('running'), 'queued'],
  )
  assert.deepEqual(await there.names('/in'), ['a.txt'], 'the stopped job left nothing behind')

  const { next, moved } = await restart(server, [here, there])
  await using _ = next
  const [from, to] = moved as [Workspace, Workspace]
  const finished: boolean[] = []
  for (const id of [...running, queued]) finished.push((await ended(from.client, id)).successful)
  assert.deepEqual(finished, Array<boolean>(6).fill(true))
  const names = ['d', 'a (1).txt', 'a.txt', 'b (1).txt', 'b (2).txt', 'b (3).txt', 'b.txt']
  assert.deepEqual(await to.names('/in'), names)
  assert.deepEqual(await from.names(), ['in', 'a.txt'])
})

it('a task that was stopped in any state ends correctly', async () => {
  await using folder = await dataFolder()
  const server = await startServer({ data: folder.data })
  const [here, there] = await two(server)
  const [mine] = await two(server)
  const gone = await Workspace.make(server, here.client, 'Gone')
  await here.folder('/e')
  // The copy of a move is visible, and its original was not deleted yet.
  assert.equal((await syncBatch(here.client, 'copy', batch(here, ['a.txt', 'e'], there, '/in'))).status, 200)
  const { db } = server.running.services
  const insert = (id: string, names: string[], state: string, target: Workspace, root = 'l.root') =>
    db.write((tx) =>
      tx.run(
        `insert into copy_move_task (id, account_key, operation, source_key, source_root, parent, names, target_key,
           folder, state, claim, done, total, created_at, updated_at)
         select ?, l.owner_key, 'move', l.key, ${root}, '/', ?, t.key, '/in', ?, 'old', 1, 1, 1, 1
         from library l join library t on t.id = ? where l.id = ?`,
        id,
        JSON.stringify(names),
        state,
        target.id,
        here.id,
      ),
    )
  await insert('removing', ['a.txt'], 'removing', there)
  await insert('changed', ['e'], 'removing', there)
  await here.file('/e/new')
  await insert('damaged', ['d'], 'running', there, `x'${'1'.repeat(40)}'`)
  await insert('gone', ['d'], 'running', gone)
  await insert('theirs', ['d'], 'queued', mine)
  await here.client.delete(`/api2/repos/${gone.id}/`)

  const { next, moved } = await restart(server, [here, there])
  await using _ = next
  const [from, to] = moved as [Workspace, Workspace]
  const failed = (failed_reason: string, total = 1) => ({
    canceled: false,
    failed: true,
    successful: false,
    failed_reason,
    done: total,
    total,
  })
  const success = { canceled: false, failed: false, successful: true, failed_reason: '', done: 1, total: 1 }
  const internal = 'Internal error when copy or move'
  assert.deepEqual(await ended(from.client, 'removing'), success)
  assert.deepEqual(await ended(from.client, 'changed'), failed(internal))
  assert.deepEqual({ ...(await ended(from.client, 'damaged')), done: 1 }, failed(internal))
  for (const id of ['gone', 'theirs']) {
    assert.deepEqual({ ...(await ended(from.client, id)), done: 1 }, failed('Invalid arguments'))
  }
  assert.deepEqual(await from.names(), ['d', 'e', 'in', 'b.txt'])
  assert.deepEqual(await to.names('/in'), ['e', 'a (1).txt', 'a.txt'])
})
