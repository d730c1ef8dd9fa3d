import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openTestCore } from '../../../test/support/core.ts'
import { Sealing } from '../../platform/secret/index.ts'
import { LocalEventHub, type TaskUpdate } from './hub.ts'
import { LiveLog, type LoggedEvent } from './live-log.ts'
import { TaskEvents } from './task-events.ts'

type Secret = ConstructorParameters<typeof Sealing>[0]
const secret: Secret = [Buffer.alloc(32, 1)]
const copying: TaskUpdate = { id: 'copy 1', type: 'copy', state: 'running', done: 1, total: 9 }
const packing: TaskUpdate = { id: 'ticket', type: 'archive', state: 'running', done: 1, total: 9 }

describe('tasks of another node', () => {
  /** Two nodes on one database. */
  async function openNodes(secrets: readonly [Secret, Secret] = [secret, secret]) {
    const stage = await openTestCore()
    let now = 1000
    const nodes = await Promise.all(
      secrets.map(async (one) => {
        const hub = new LocalEventHub()
        const seen: LoggedEvent[] = []
        const log = new LiveLog({
          db: stage.db,
          hub,
          now: () => now,
          tasks: new TaskEvents(new Sealing(one, 'live events'), true),
          onEvents: (events) => void seen.push(...events),
          onLost: () => assert.fail('events were lost'),
          onError: (error) => assert.fail(String(error)),
        })
        await log.start()
        return { log, hub, seen }
      }),
    )
    const [here, there] = nodes
    if (here === undefined || there === undefined) throw new Error('two nodes were started')
    return {
      db: stage.db,
      here,
      there,
      /** Publishes at the first node, so many seconds later, and lets the second one look. */
      async publish(task: TaskUpdate, seconds = 0) {
        now += seconds
        here.hub.publish({ kind: 'task', accountKey: 7, task })
        await here.log.settled()
        await there.log.poll()
      },
      /** What the second node was told. */
      told: () => there.seen.map(({ event }) => (event.kind === 'task' ? event.task : undefined)),
      async [Symbol.asyncDispose]() {
        for (const { log } of nodes) await log.stop()
        await stage[Symbol.asyncDispose]()
      },
    }
  }

  it('report their progress every second, and their end', async () => {
    await using nodes = await openNodes()
    await nodes.publish(copying)
    assert.deepEqual(nodes.told(), [])
    await nodes.publish({ ...copying, done: 2 }, 1)
    await nodes.publish({ ...copying, done: 3 })
    await nodes.publish({ ...copying, done: 4 }, 1)
    await nodes.publish({ ...copying, done: 9, state: 'successful' })
    assert.deepEqual(
      nodes.told().map((task) => [task?.id, task?.state, task?.done]),
      [
        ['copy 1', 'running', 2],
        ['copy 1', 'running', 4],
        ['copy 1', 'successful', 9],
      ],
    )
    assert.deepEqual(nodes.here.seen.length, 5)
  })

  it('report archives without storing their ids, which are secrets', async () => {
    await using nodes = await openNodes()
    await nodes.publish(packing)
    await nodes.publish({ ...packing, done: 5 }, 2)
    await nodes.publish({ ...packing, done: 9, state: 'successful' })
    assert.deepEqual(nodes.told(), [
      { ...packing, done: 5 },
      { ...packing, done: 9, state: 'successful' },
    ])
    const rows = await nodes.db.all<{ event: string }>('select event from live_event')
    assert.equal(rows.length, 2)
    for (const { event } of rows) assert.doesNotMatch(event, /ticket/)
  })

  it('store nothing of an archive whose id opens an encrypted library', async () => {
    await using nodes = await openNodes()
    const secretly = { ...packing, isUnstored: true } as const
    await nodes.publish(secretly)
    await nodes.publish({ ...secretly, done: 5 }, 2)
    await nodes.publish({ ...secretly, done: 9, state: 'successful' })
    assert.deepEqual(nodes.told(), [])
    assert.deepEqual(await nodes.db.all('select event from live_event'), [])
    assert.equal(nodes.here.seen.length, 3)
  })

  it('leave out what was sealed under another secret', async () => {
    await using nodes = await openNodes([secret, [Buffer.alloc(32, 2)]])
    await nodes.publish({ ...packing, state: 'failed' })
    await nodes.publish({ ...copying, state: 'failed' })
    assert.deepEqual(nodes.told(), [{ ...copying, state: 'failed' }])
  })

  it('are not logged while no other node exists, except the end of a copy', () => {
    const alone = new TaskEvents(new Sealing(secret, 'live events'), false)
    const isLogged = (task: TaskUpdate, now = 0) => alone.isLogged({ kind: 'task', accountKey: 7, task }, now)
    assert.deepEqual(
      [isLogged(copying), isLogged(copying, 9), isLogged({ ...packing, state: 'successful' })],
      [false, false, false],
    )
    assert.equal(isLogged({ ...copying, state: 'successful' }), true)
  })
})
