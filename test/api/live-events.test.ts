import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { appendEvents } from '../../src/derived/activity/live-event-store.ts'
import { EVENTS_KEPT } from '../../src/derived/activity/live-log.ts'
import { MAX_STREAMS } from '../../src/derived/activity/live-streams.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { Client } from '../support/client.ts'
import { EventStream } from '../support/event-stream.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { assertError, NOON, NOON_TEXT, Workspace } from './folders-support.ts'

let server: TestServer
before(async () => {
  server = await startServer({ now: () => NOON })
})
after(() => server[Symbol.asyncDispose]())

/** Resolves when everything so far was delivered, by all nodes. */
async function settled() {
  const logs = server.nodes.map(({ services }) => services.activity.live.log)
  for (const log of logs) await log.settled()
  for (const log of logs) await log.poll()
}

const openStreams = () => server.nodes.reduce((sum, { services }) => sum + services.activity.live.count, 0)

describe('live events', () => {
  it('report commits, with the number to resume from', async () => {
    const space = await Workspace.make(server)
    await settled()
    await using stream = await EventStream.open(space.client)
    assert.equal(stream.status, 200)
    assert.equal(stream.headers['content-type'], 'text/event-stream; charset=utf-8')
    assert.equal(stream.headers['cache-control'], 'no-store')
    const ready = await stream.next()
    assert.equal(ready?.event, 'ready')
    assert.deepEqual(ready?.data, { since: Number(ready?.id) })
    await space.file('/a')
    const told = await stream.next()
    assert.deepEqual(told, {
      id: String(Number(ready?.id) + 1),
      event: 'commit',
      data: {
        repo_id: space.id,
        commit_id: await space.head(),
        author_email: space.client.email,
        time: NOON_TEXT,
      },
    })
  })

  it('report locks', async () => {
    const space = await Workspace.make(server)
    await space.file('/a')
    await settled()
    await using stream = await EventStream.open(space.client)
    const lock = (operation: string) => space.client.put(space.v2('file/'), { form: { p: '/a', operation } })
    await stream.nextOf('ready')
    const author_email = space.client.email
    assert.equal((await lock('lock')).status, 200)
    const told = { repo_id: space.id, path: '/a', locked: true, author_email }
    assert.deepEqual((await stream.next())?.data, told)
    assert.equal((await lock('unlock')).status, 200)
    assert.deepEqual((await stream.next())?.data, { ...told, locked: false })
  })

  it('report notifications and added and removed libraries', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    const space = await Workspace.make(server, ann)
    await settled()
    await using toAnn = await EventStream.open(ann)
    await using toBob = await EventStream.open(bob)
    await Promise.all([toAnn.nextOf('ready'), toBob.nextOf('ready')])
    await ann.put(space.v2('owner/'), { form: { owner: bob.email } })
    const notification = await toBob.nextOf('notification')
    const [listed] = (await bob.get('/api/v2.1/notifications/')).body.notification_list
    assert.deepEqual(notification.data, { id: listed.id, type: 'repo_transfer' })
    assert.deepEqual((await toBob.nextOf('libraries')).data, {})
    await toAnn.nextOf('libraries')
    // From the transfer on, only bob receives the events of the library.
    await new Workspace(server, bob, space.id).file('/secret')
    assert.equal((await toBob.nextOf('commit')).data.repo_id, space.id)
    await ann.createLibrary('Another')
    assert.equal((await toAnn.next())?.event, 'libraries')
    assert.deepEqual(toAnn.waiting, [])
  })

  it('report the progress of tasks', async () => {
    const { isShared } = server.running.services.db
    const source = await Workspace.make(server)
    const { client } = source
    const other = await Workspace.make(server, client, 'Target')
    await source.folder('/d')
    for (const name of ['a', 'b', 'c']) await source.file(`/d/${name}`)
    await settled()
    await using stream = await EventStream.open(client)
    await stream.nextOf('ready')
    const started = await client.post('/api/v2.1/repos/async-batch-copy-item/', {
      json: {
        src_repo_id: source.id,
        src_parent_dir: '/',
        src_dirents: ['d'],
        dst_repo_id: other.id,
        dst_parent_dir: '/',
      },
    })
    assert.equal(started.status, 200, started.text)
    for (;;) {
      const { id, data } = await stream.nextOf('task')
      assert.deepEqual([data.task_id, data.type], [started.body.task_id, 'copy'])
      // A long task is also logged in between, for the streams of other nodes.
      if (!isShared || data.state === 'successful')
        assert.equal(id !== undefined, data.state === 'successful', 'only the final state is kept')
      if (data.state === 'successful') {
        assert.deepEqual([data.done, data.total], [3, 3])
        break
      }
      assert.ok(['queued', 'running'].includes(data.state), data.state)
    }
    const zip = await client.post(source.v21('zip-task/'), { form: { parent_dir: '/', dirents: 'd' } })
    assert.equal(zip.status, 200, zip.text)
    for (;;) {
      const { data, id } = await stream.nextOf('task')
      assert.deepEqual([data.task_id, data.type], [zip.body.zip_token, 'archive'])
      if (!isShared || data.state === 'successful') assert.equal(id !== undefined, isShared)
      if (data.state === 'successful') break
    }
  })

  it('never reveal libraries and accounts of others', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    const [mine, theirs] = [await Workspace.make(server, ann), await Workspace.make(server, bob)]
    await settled()
    await using stream = await EventStream.open(ann)
    await stream.nextOf('ready')
    await theirs.file('/secret')
    await bob.put(theirs.v2('file/'), { form: { p: '/secret', operation: 'lock' } })
    await bob.createLibrary()
    await mine.file('/a')
    assert.equal((await stream.next())?.data.repo_id, mine.id)
    assert.deepEqual(stream.waiting, [])
    await using again = await EventStream.open(ann, { query: '?since=0' })
    const seen = new Set<string>()
    for (let next = await again.next(); next !== undefined; next = await again.next()) {
      if (next.data.repo_id !== undefined) seen.add(next.data.repo_id)
      if (next.data.commit_id === (await mine.head())) break
    }
    assert.deepEqual([...seen], [mine.id])
  })

  it('resume where a stream was interrupted', async () => {
    const space = await Workspace.make(server)
    await settled()
    let last: string | undefined
    {
      await using stream = await EventStream.open(space.client)
      await stream.nextOf('ready')
      await space.file('/a')
      last = (await stream.nextOf('commit')).id
    }
    await space.client.put(space.v2('file/'), { form: { p: '/a', operation: 'lock' } })
    await settled()
    await space.file('/b')
    await settled()
    for (const [name, options] of [
      ['/c', { lastEventId: last ?? '' }],
      ['/d', { query: `?since=${last}` }],
      ['/e', { query: '?since=0', lastEventId: last ?? '' }],
    ] as const) {
      await using stream = await EventStream.open(space.client, options)
      const ready = await stream.next()
      assert.deepEqual([ready?.event, ready?.id], ['ready', last])
      assert.deepEqual([(await stream.next())?.event, (await stream.next())?.event], ['lock', 'commit'])
      await space.file(name)
      await stream.nextCommit(await space.head())
    }
  })

  it('restart with a reset when the missed events are no longer available', async () => {
    const ann = await server.signUp()
    const { core, activity } = server.running.services
    await settled()
    const newest = activity.live.log.last
    for (const options of [
      { query: `?since=${newest + 1000}` },
      { lastEventId: String(newest + 1000) },
      { lastEventId: 'x' },
      { lastEventId: '-1' },
      { lastEventId: '1; drop table live_event' },
      { lastEventId: '9'.repeat(100) },
    ]) {
      await using stream = await EventStream.open(ann, options)
      const reset = await stream.next()
      assert.deepEqual([reset?.event, reset?.data], ['reset', { since: newest }], JSON.stringify(options))
    }
    const many = Array.from({ length: EVENTS_KEPT + 10 }, () => ({ kind: 'access' as const, accountKey: 0 }))
    await appendEvents(dbOf(core), many, NOON)
    await settled()
    await activity.live.log.deleteOld()
    const kept = await dbOf(core).get<{ n: number }>('select count(*) as n from live_event')
    assert.equal(kept?.n, EVENTS_KEPT)
    await using stream = await EventStream.open(ann, { query: `?since=${newest}` })
    assert.equal((await stream.next())?.event, 'reset')
    await ann.createLibrary()
    assert.equal((await stream.next())?.event, 'libraries')
  })

  it('reject an invalid cursor and callers without credentials', async () => {
    const ann = await server.signUp()
    for (const since of ['x', '-1', '1.5', '9'.repeat(20)]) {
      assertError(await ann.get('/api/v2.1/events/', { since }), 400, 'since invalid.')
    }
    assert.equal((await server.anonymous.get('/api/v2.1/events/')).status, 403)
  })

  it('reach a client through another process', async () => {
    const space = await Workspace.make(server)
    await settled()
    await using stream = await EventStream.open(space.client)
    await stream.nextOf('ready')
    const { core, access, accounts, activity } = server.running.services
    const account = await accounts.get(space.client.email)
    const [readable] = await access.listReadable(account)
    const heard: string[] = []
    const unsubscribe = activity.hub.subscribe([readable?.libraryKey ?? 0], ({ kind }) => heard.push(kind))
    const event = {
      kind: 'lock',
      libraryKey: readable?.libraryKey ?? 0,
      libraryId: readable?.id ?? '',
      path: '/from/elsewhere',
      locked: true,
      author: account.email,
    }
    await appendEvents(dbOf(core), [event as never], NOON)
    await activity.live.log.poll()
    assert.equal((await stream.nextOf('lock')).data.path, '/from/elsewhere')
    assert.deepEqual(heard, ['lock'])
    unsubscribe()
  })

  it('reset a client that does not read, without delaying others', async () => {
    const space = await Workspace.make(server)
    await settled()
    await using slow = await EventStream.open(space.client)
    await using quick = await EventStream.open(space.client)
    await Promise.all([slow.nextOf('ready'), quick.nextOf('ready')])
    slow.pause()
    const { key } = await server.running.services.accounts.get(space.client.email)
    // Far more than the sockets and the stream buffer together.
    const count = 60_000
    for (let n = 0; n < count; n++) {
      const task = {
        id: `${n} ${'x'.repeat(400)}`,
        type: 'archive',
        state: 'running',
        done: n,
        total: count,
      } as const
      // Progress reaches only the streams of the node that publishes it.
      for (const { services } of server.nodes) services.activity.publishTask(key, task)
      if (n % 500 === 0) {
        await settled()
        await quick.nextOf('task')
      }
    }
    await space.file('/last')
    for (;;) {
      const next = await quick.next()
      if (next?.event === 'commit' || next?.event === 'reset') break
    }
    slow.resume()
    assert.ok(await slow.nextOf('reset'))
  })

  it('end with their credential, and are limited to a number of streams per account', async () => {
    const ann = await server.signUp()
    const streams: EventStream[] = []
    // Each node has a limit of its own.
    const most = MAX_STREAMS * server.nodes.length
    for (let n = 0; n < most; n++) streams.push(await EventStream.open(ann))
    const refused = await ann.get('/api/v2.1/events/')
    assertError(refused, 429, `An account can have at most ${MAX_STREAMS} event streams.`)
    await streams.pop()?.[Symbol.asyncDispose]()
    await until(() => openStreams() === most - 1)
    await using one = await EventStream.open(ann)
    assert.equal(one.status, 200)
    await server.running.services.accounts.update(ann.email, { active: false }, undefined)
    for (const { services } of server.nodes) await services.activity.live.checkAll()
    await Promise.all([one, ...streams].map((stream) => stream.ended()))
    assert.equal(openStreams(), 0)
  })
})

describe('a thousand event streams', () => {
  it('are all served, and are released when their clients disconnect', async () => {
    const people: Client[] = []
    for (let n = 0; n < 20; n++) people.push(await server.signUp())
    const spaces = await Promise.all(people.map((client) => Workspace.make(server, client)))
    await settled()
    const opened = await Promise.all(
      people.flatMap((client) => Array.from({ length: 50 }, () => EventStream.open(client))),
    )
    await Promise.all(opened.map((stream) => stream.nextOf('ready')))
    assert.equal(openStreams(), 1000)
    await Promise.all(spaces.map((space) => space.file('/a')))
    const told = await Promise.all(opened.map((stream) => stream.nextOf('commit')))
    assert.deepEqual(
      told.map(({ data }) => data.repo_id),
      spaces.flatMap(({ id }) => Array.from({ length: 50 }, () => id)),
    )
    await Promise.all(opened.map((stream) => stream[Symbol.asyncDispose]()))
    await until(() => openStreams() === 0)
    await Promise.all(spaces.map((space) => space.file('/b')))
    await settled()
  })

  it('do not keep a server from stopping', async () => {
    await using own = await startServer()
    const ann = await own.signUp()
    const streams = await Promise.all(Array.from({ length: 50 }, () => EventStream.open(ann)))
    await Promise.all(streams.map((stream) => stream.nextOf('ready')))
    const began = performance.now()
    await Promise.all(own.nodes.map((node) => node.close()))
    await Promise.all(streams.map((stream) => stream.ended()))
    assert.ok(performance.now() - began < 10_000)
  })
})

/** Waits for the next turn of the event loop. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}
