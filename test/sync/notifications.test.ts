import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { shareWith } from '../api/sharing-support.ts'
import type { Client } from '../support/client.ts'
import { jwtOf, NotificationClient } from '../support/notification-client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

let server: TestServer
let ann: Client
before(async () => {
  server = await startServer()
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

const listen = (url = server.url) => NotificationClient.open(url)

async function subscribed(listener: NotificationClient, sync: SyncClient): Promise<void> {
  listener.say('subscribe', { id: sync.library, jwt_token: await jwtOf(sync) })
  // A subscription has no response, so the test waits until its effect shows.
  const before = listener.heard.length
  await eventually(async () => {
    await uploadFile(ann, sync.library, '/probe.txt', String(Math.random()), { replace: true })
    assert.ok(listener.heard.length > before)
  })
  await eventually(async () => {
    const last = listener.heard.at(-1)
    assert.equal(last?.content['commit_id'], await sync.head())
  })
  listener.heard.length = 0
}

describe('notifications', () => {
  it('are enabled', async () => {
    const reply = await server.anonymous.get('/notification/ping')
    assert.deepEqual([reply.status, reply.body], [200, { ret: 'pong' }])
    assert.ok((await server.anonymous.get('/notification')).status >= 400)
  })

  it('report a moved head promptly, to subscribers only', async () => {
    const sync = await SyncClient.link(ann, await ann.createLibrary())
    const other = await SyncClient.link(ann, await ann.createLibrary())
    using listener = await listen()
    await subscribed(listener, sync)
    await other.push({ 'x.txt': 'x' })
    const began = Date.now()
    const head = await sync.push({ 'a.txt': 'a' })
    await eventually(async () => assert.equal(listener.heard.length, 1))
    assert.ok(Date.now() - began < 5000)
    assert.deepEqual(listener.heard[0], {
      type: 'repo-update',
      content: { repo_id: sync.library, commit_id: head },
    })
    listener.say('unsubscribe', { id: sync.library })
    listener.say('subscribe', { id: other.library, jwt_token: await jwtOf(other) })
    await subscribed(listener, other)
    await sync.push({ 'b.txt': 'b' })
    await other.push({ 'y.txt': 'y' })
    await eventually(async () => assert.equal(listener.heard.length, 1))
    assert.equal(listener.heard[0]?.content['repo_id'], other.library)
  })

  it('report changes of a shared folder to its subscribers, and no others', async () => {
    const ben = await server.signUp()
    const library = await ann.createLibrary()
    await uploadFile(ann, library, '/team/plan.txt', 'plan')
    const sync = await SyncClient.link(ben, await shareWith(ann, library, ben, { path: '/team' }))
    using listener = await listen()
    listener.say('subscribe', { id: sync.library, jwt_token: await jwtOf(sync) })
    await eventually(async () => {
      await uploadFile(ann, library, '/team/probe.txt', String(Math.random()), { replace: true })
      assert.ok(listener.heard.length > 0)
    })
    await eventually(async () => {
      assert.equal(listener.heard.at(-1)?.content['commit_id'], await sync.head())
    })
    listener.heard.length = 0
    await uploadFile(ann, library, '/elsewhere.txt', 'elsewhere')
    await sync.push({ 'by ben.txt': 'ben' })
    const expected = { repo_id: sync.library, commit_id: await sync.head() }
    await eventually(async () => assert.equal(listener.heard.length, 1))
    assert.deepEqual(listener.heard, [{ type: 'repo-update', content: expected }])
  })

  it('report locks', async () => {
    const sync = await SyncClient.link(ann, await ann.createLibrary())
    await sync.push({ 'a.txt': 'a' })
    using listener = await listen()
    await subscribed(listener, sync)
    await sync.call('PUT', 'lock-file?p=probe.txt', '')
    await sync.call('PUT', 'unlock-file?p=probe.txt', '')
    await eventually(async () => assert.equal(listener.heard.length, 2))
    assert.deepEqual(
      listener.heard.map(({ type, content }) => [type, content['path'], content['change_event']]),
      [
        ['file-lock-changed', 'probe.txt', 'locked'],
        ['file-lock-changed', 'probe.txt', 'unlocked'],
      ],
    )
  })

  it('reject invalid, foreign and expired tokens', async () => {
    const sync = await SyncClient.link(ann, await ann.createLibrary())
    const other = await SyncClient.link(ann, await ann.createLibrary())
    const token = await jwtOf(sync)
    const [head, claims, signature] = token.split('.') as [string, string, string]
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
    const forged = Buffer.from(JSON.stringify({ repo_id: other.library, username: ann.email, exp: 9e9 }))
    using listener = await listen()
    const bad: [SyncClient, string][] = [
      [other, token],
      [sync, ''],
      [sync, 'x'],
      [sync, `${head}.${claims}.`],
      [sync, `${none}.${claims}.`],
      [sync, `${head}.${claims}.${signature}.x`],
      [other, `${head}.${forged.toString('base64url')}.${signature}`],
      [sync, 'x'.repeat(10_000)],
    ]
    for (const [at, jwt] of bad) listener.say('subscribe', { id: at.library, jwt_token: jwt })
    await eventually(async () => assert.equal(listener.heard.length, bad.length))
    assert.deepEqual(new Set(listener.heard.map(({ type }) => type)), new Set(['jwt-expired']))
    await sync.push({ 'a.txt': 'a' })
    await ann.delete(`/api2/repos/${sync.library}/`)
    listener.say('subscribe', { id: sync.library, jwt_token: token })
    await eventually(async () => assert.equal(listener.heard.length, bad.length + 1))
  })

  for (const [what, sent] of [
    ['an unknown message', '{"type":"events"}'],
    ['invalid JSON', 'hello'],
    ['an invalid library id', '{"type":"subscribe","content":{"repos":[{"id":"x"}]}}'],
    ['null', 'null'],
    ['bytes', Buffer.from([1, 2, 3])],
    ['a message beyond the size limit', 'x'.repeat(100_000)],
  ] as const) {
    it(`close the connection for ${what}`, async () => {
      using listener = await listen()
      listener.socket.send(sent)
      await once(listener.socket, 'close')
    })
  }

  it('answer pings, and ping the client', async () => {
    using listener = await listen()
    listener.socket.ping()
    await Promise.all([once(listener.socket, 'pong'), once(listener.socket, 'ping')])
  })

  it('close with a close frame when the server stops', async () => {
    const stopping = await startServer()
    const { socket } = await listen(stopping.url)
    const closed = once(socket, 'close')
    await stopping[Symbol.asyncDispose]()
    assert.equal((await closed)[0], 1001)
  })
})
