import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it, mock } from 'node:test'
import {
  claimDelivery,
  insertDeliveries,
  listDue,
} from '../../src/derived/activity/webhook-delivery-store.ts'
import type { ServerSecret } from '../../src/platform/secret/secret.ts'
import { adoptSecret, checkSecret } from '../../src/programs/assembly/secret-check.ts'
import { batch, two } from '../api/batch-support.ts'
import { Workspace } from '../api/folders-support.ts'
import { ended, started } from '../api/tasks-support.ts'
import { Client } from '../support/client.ts'
import { EventStream } from '../support/event-stream.ts'
import { at, declareDead, Nodes } from '../support/nodes.ts'
import { jwtOf, NotificationClient } from '../support/notification-client.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import type { TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { eventually, filePart, intoRoot, postForm, uploadLink } from '../support/transfer.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false

describe('nodes on one PostgreSQL database', { skip }, () => {
  let postgres: PostgresServer
  before(() => {
    postgres = found as PostgresServer
  })
  after(() => postgres[Symbol.asyncDispose]())

  it('do periodic work once, and another node takes it over when the first is dead or stops', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second, third] = [await nodes.start(), await nodes.start(), await nodes.start()]
    const holds = ({ running }: TestServer) => running.services.node.hold('work')
    assert.equal(await holds(first), true)
    assert.equal(await holds(second), false)
    assert.equal(await holds(first), true)
    await declareDead(first)
    assert.equal(await holds(second), true)
    assert.equal(await holds(first), false)
    assert.equal(await holds(third), false)
    await second.running.services.node[Symbol.asyncDispose]()
    assert.equal(await holds(third), true)
  })

  it('are listed with their leases until another node has taken over the work of a dead one', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    await first.running.services.node.hold('work')
    const listed = async () =>
      (await second.running.services.node.list()).map(({ id, isAlive, leases }) => ({
        id,
        isAlive,
        works: leases.includes('work'),
      }))
    const [one, other] = [first, second].map(({ running }) => running.services.node.id)
    assert.deepEqual(
      (await listed()).filter(({ works }) => works),
      [{ id: one, isAlive: true, works: true }],
    )
    await declareDead(first)
    assert.deepEqual(
      (await listed()).filter(({ isAlive }) => !isAlive).map(({ id }) => id),
      [one],
    )
    await second.running.services.node.beat()
    assert.deepEqual(
      (await listed()).map(({ id }) => id),
      [other],
    )
  })

  it('answer for the progress of an upload that reached another node', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const client = await first.signUp()
    const link = await uploadLink(client, await client.createLibrary())
    const parts = [intoRoot, filePart('a.txt', 'hello')]
    const { text } = await postForm(link, parts, { query: 'need_idx_progress=true&ret-json=1' })
    const progress = await second.anonymous.get('/seafhttp/idx_progress', { task_id: text })
    assert.deepEqual([progress.status, progress.body.indexed], [200, 5])
  })

  it('take over the tasks of a dead node and no others, and nothing is copied twice', async () => {
    await using nodes = await Nodes.create(postgres)
    const first = await nodes.start()
    const [here, there] = await two(first)
    const gate = Promise.withResolvers<undefined>()
    const reached = Promise.withResolvers<undefined>()
    mock.method(first.running.services.quotas, 'roomLeft', () => {
      reached.resolve(undefined)
      return gate.promise
    })
    const task = await started(here.client, 'move', batch(here, ['d'], there, '/in'))
    await reached.promise
    // A start looks for tasks, and so does every heartbeat.
    const second = await nodes.start()
    await second.running.services.node.beat()
    await second.running.services.copyMoveTasks.takeFree()
    const row = async () => {
      const sql = 'select node_id, state from copy_move_task where id = ?'
      return second.running.services.db.get<{ node_id: string; state: string }>(sql, task)
    }
    assert.deepEqual({ ...(await row()) }, { node_id: first.running.services.node.id, state: 'running' })
    await declareDead(first)
    await second.running.services.node.beat()
    assert.equal((await ended(at(second, here.client), task)).successful, true)
    assert.equal((await row())?.node_id, second.running.services.node.id)
    // The first node was only paused: its claim is void.
    gate.resolve(undefined)
    await first.running.services.copyMoveTasks[Symbol.asyncDispose]()
    assert.deepEqual(await there.names('/in'), ['d', 'a.txt'])
    assert.deepEqual(await here.names(), ['in', 'a.txt', 'b.txt'])
    assert.equal((await ended(at(second, here.client), task)).successful, true)
  })

  it('process the commits that a dead node left', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const space = await Workspace.make(first)
    const client = at(second, space.client)
    await using events = await EventStream.open(client)
    await events.nextOf('ready')
    const { core, activity, node } = first.running.services
    // It dies right after the commit.
    mock.method(core.commitConsumer, 'wake', () => {})
    mock.method(activity.hub, 'publish', () => {})
    await space.file('/marmalade.txt')
    await declareDead(first)
    await second.running.services.node.beat()
    await events.nextCommit(await space.head())
    await eventually(async () => {
      const reply = await client.get('/api2/search/', { q: 'marmalade' })
      assert.equal(reply.body.total, 1, reply.text)
    })
    assert.ok((await second.running.services.node.list()).every(({ id }) => id !== node.id))
  })

  it('notify sync clients of commits and locks at other nodes, once', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const ann = await first.signUp()
    const sync = await SyncClient.link(ann, await ann.createLibrary())
    using listener = await NotificationClient.open(second.url)
    listener.say('subscribe', { id: sync.library, jwt_token: await jwtOf(sync) })
    // Repeated until the subscription is in force.
    await eventually(async () => {
      await sync.push({ 'probe.txt': randomUUID() })
      await second.running.services.activity.live.log.poll()
      assert.ok(listener.heard.length > 0)
    })
    const head = await sync.push({ 'a.txt': 'a' })
    const update = await listener.until(({ content }) => content['commit_id'] === head)
    assert.equal(update.type, 'repo-update')
    await sync.call('PUT', 'lock-file?p=a.txt', '')
    const lock = await listener.until(({ type }) => type === 'file-lock-changed')
    assert.deepEqual(lock.content, {
      repo_id: sync.library,
      path: 'a.txt',
      change_event: 'locked',
      lock_user: ann.email,
    })
    assert.equal(listener.heard.filter(({ content }) => content['commit_id'] === head).length, 1)
  })

  it('notify sync clients of commits and locks in the order in which they happened', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const ann = await first.signUp()
    const id = await ann.createLibrary()
    const [here, there] = [await SyncClient.link(ann, id), await SyncClient.link(at(second, ann), id)]
    using listener = await NotificationClient.open(second.url)
    listener.say('subscribe', { id, jwt_token: await jwtOf(here) })
    await eventually(async () => {
      await here.push({ 'probe.txt': randomUUID() })
      await second.running.services.activity.live.log.poll()
      assert.ok(listener.heard.length > 0)
    })
    const expected: string[] = []
    const change = async (sync: SyncClient, operation: 'lock' | 'unlock', path: string) => {
      const reply = await sync.call('PUT', `${operation}-file?p=${path}`, '')
      assert.equal(reply.status, 200, reply.text)
      expected.push(`${path} ${operation}ed`)
    }
    for (let round = 0; round < 3; round += 1) {
      // A commit at the first node, then a lock at the second, which has not heard of the commit.
      expected.push(await here.push({ 'probe.txt': 'text', [`${round}.txt`]: 'text' }))
      await change(there, 'lock', `${round}.txt`)
      await change(there, 'unlock', `${round}.txt`)
      // A lock at the first node that the second one removes.
      await change(here, 'lock', 'probe.txt')
      await change(there, 'unlock', 'probe.txt')
    }
    const told = (): unknown[] =>
      listener.heard.map(({ type, content }) =>
        type === 'repo-update'
          ? content['commit_id']
          : `${String(content['path'])} ${String(content['change_event'])}`,
      )
    await eventually(async () => assert.ok(told().length - told().indexOf(expected[0]) >= expected.length))
    assert.deepEqual(told().slice(told().indexOf(expected[0])), expected)
  })

  it('count wrong passwords together, also after a start', async () => {
    await using nodes = await Nodes.create(postgres, { CARREL_RATE_LIMIT: 'on' })
    const [first, second] = [await nodes.start(), await nodes.start()]
    const guess = async ({ url }: TestServer) => {
      const form = { username: 'ann@example.org', password: 'wrong' }
      return (await new Client(url).post('/api2/auth-token/', { form })).status
    }
    for (let count = 0; count < 5; count += 1) {
      assert.deepEqual([await guess(first), await guess(second)], [400, 400])
    }
    const third = await nodes.start()
    assert.deepEqual([await guess(first), await guess(second), await guess(third)], [429, 429, 429])
  })

  it('claim one delivery of a webhook at a time', async () => {
    await using nodes = await Nodes.create(postgres)
    const node = await nodes.start()
    const { db, activity } = node.running.services
    await activity.webhookSender[Symbol.asyncDispose]()
    const { id } = await Workspace.make(node)
    await db.write((tx) =>
      tx.run(
        `insert into webhook (library_key, url, secret, creator, created_at, since_seq)
         select key, 'https://example.org/', ?, 'ann', 1, 0 from library where id = ?`,
        new Uint8Array(1),
        id,
      ),
    )
    const webhook = await db.get<{ key: number }>('select key from webhook')
    const delivery = { webhookKey: webhook?.key ?? 0, event: 'commit', body: '{}', createdAt: 1 }
    const deliveries = ['one', 'two'].map((name) => ({ ...delivery, id: name }))
    await db.write((tx) => insertDeliveries(tx, deliveries))
    const rows = await db.all<{ key: number }>('select key from webhook_delivery order by key')
    const claims = await Promise.all(
      rows.map(({ key }) => db.write((tx) => claimDelivery(tx, key, 1000, 1030))),
    )
    assert.equal(claims.filter((claim) => claim !== undefined).length, 1)
    assert.deepEqual(await listDue(db, 1000, 10), [])
    assert.deepEqual(
      (await listDue(db, 1030, 10)).map(({ key }) => key),
      [rows[0]?.key],
    )
  })

  it('refuse a server with another secret until that is adopted, and accept a rotated one', async () => {
    await using nodes = await Nodes.create(postgres)
    const first = await nodes.start()
    const { db } = first.running.services
    const env = { CARREL_SECRET: 'the secret of somebody else' }
    await assert.rejects(
      nodes.start({ env }),
      /^StartError: The secret of this server is not the one this database is used with: /,
    )
    const rotated: ServerSecret = [
      Buffer.from('the next secret'),
      Buffer.from(nodes.env['CARREL_SECRET'] ?? ''),
    ]
    await checkSecret(db, rotated)
    await assert.rejects(nodes.start(), /The secret of this server/, 'its key is an older one')
    await adoptSecret(db, [Buffer.from(env.CARREL_SECRET)])
    await nodes.start({ env })
  })
})
