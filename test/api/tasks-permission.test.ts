import assert from 'node:assert/strict'
import { after, before, describe, it, mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { TestServer } from '../support/server.ts'
import { startServer } from '../support/server.ts'
import { batch, setLibrary, two } from './batch-support.ts'
import type { Workspace } from './folders-support.ts'
import { holdTasks, started } from './tasks-support.ts'

const OPERATIONS = ['copy', 'move'] as const

describe('a task whose account loses a permission while it runs', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(async () => server[Symbol.asyncDispose]())

  /** Waits for the end of a task by the jobs: its account may not be able to query it any more. */
  async function endOf(email: string, id: string) {
    const { accounts, copyMoveTasks } = server.running.services
    const account = await accounts.findByLogin(email)
    if (account === undefined) throw new Error(`there is no ${email}`)
    for (;;) {
      const progress = await copyMoveTasks.progressOf(account, id)
      if (progress === undefined) throw new Error('there is no such task')
      if (['successful', 'failed', 'canceled'].includes(progress.state)) return progress
      await nextTurn()
    }
  }

  async function giveAway(space: Workspace): Promise<void> {
    const other = await server.running.services.accounts.findByLogin((await server.signUp()).email)
    await setLibrary(server, space, `owner_key = ${other?.key}`)
  }

  type Loss = (here: Workspace, there: Workspace) => Promise<unknown>
  const losses: Record<string, Loss> = {
    'the source was transferred': (here) => giveAway(here),
    'the destination was transferred': (_, there) => giveAway(there),
    'the account was deactivated': ({ client }) =>
      server.running.services.accounts.update(client.email, { active: false }, undefined),
    'the session was signed out': ({ client }) => client.post('/api2/logout-device/'),
    'the account was signed out everywhere': ({ client }) => client.delete('/api/v2.1/sessions/'),
    'the destination became read-only': (_, there) => setLibrary(server, there, 'status = 1'),
  }
  for (const [name, lose] of Object.entries(losses)) {
    for (const operation of OPERATIONS) {
      it(`fails and leaves nothing visible: ${name}, ${operation}`, async () => {
        const [here, there] = await two(server)
        const { core } = server.running.services
        using hold = holdTasks(server)
        const id = await started(here.client, operation, batch(here, ['a.txt', 'd'], there, '/in'))
        await hold.reached
        await lose(here, there)
        const sql = 'select head from library where id in (?, ?) order by key'
        const heads = await dbOf(core).all(sql, here.id, there.id)
        hold.release()
        const end = await endOf(here.client.email, id)
        assert.deepEqual([end.state, end.failedReason], ['failed', 'Invalid arguments'])
        assert.deepEqual(await dbOf(core).all(sql, here.id, there.id), heads)
      })
    }
  }

  it('keeps the originals of a move if the source was transferred after the copy', async () => {
    const [here, there] = await two(server)
    const { access } = server.running.services
    const [from, to] = [await here.head(), await there.head()]
    const reopen = access.reopen.bind(access)
    let given: Promise<void> | undefined
    const opening = mock.method(access, 'reopen', async (...args: Parameters<typeof reopen>) => {
      if ((await there.head()) !== to) await (given ??= giveAway(here))
      return reopen(...args)
    })
    try {
      const id = await started(here.client, 'move', batch(here, ['a.txt', 'd'], there, '/in'))
      const end = await endOf(here.client.email, id)
      assert.deepEqual([end.state, end.failedReason], ['failed', 'Invalid arguments'])
    } finally {
      opening.mock.restore()
    }
    assert.ok(given, 'the source was transferred in time')
    assert.deepEqual(await there.names('/in'), ['d', 'a (1).txt', 'a.txt'])
    const { core } = server.running.services
    const row = await dbOf(core).get<{ head: Uint8Array }>('select head from library where id = ?', here.id)
    assert.equal(Buffer.from(row?.head ?? []).toString('hex'), from)
  })
})
