import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { EventStream } from '../support/event-stream.ts'
import { jwtOf, NotificationClient } from '../support/notification-client.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { testSeed } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { sampleOfDatabase } from '../support/tier.ts'
import { personalToken } from '../support/tokens.ts'
import { uploadFile } from '../support/transfer.ts'
import { makeGroup, shareWith, shareWithGroup, unshare } from './sharing-support.ts'

const PASSWORD = 'a long password'

// The server that pushes events, and a second process over the same data. Permissions are revoked through either.
let data: string
let postgres: PostgresServer | undefined
let server: TestServer
let other: ChildServer
before(async () => {
  data = await mkdtemp(path.join(os.tmpdir(), 'carrel-revocation-'))
  if (process.env['CARREL_TEST_DATABASE'] === 'postgres') postgres = await startPostgres()
  const env = postgres === undefined ? undefined : { CARREL_DATABASE: await postgres.createWithSchema() }
  server = await startServer({ data, sharesDataFolder: true, ...(env && { env }) })
  other = await spawnServer(data, env)
})
after(async () => {
  await other[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await postgres?.[Symbol.asyncDispose]()
  await rm(data, { recursive: true, force: true })
})

/** An account that reads a library of ann on a signed-in device. */
interface Stage {
  readonly ann: Client
  readonly bob: Client
  readonly admin: Client
  readonly deviceId: string
  /** The library whose events are pushed, a file in it that can be locked, and the folder it is shared by. */
  readonly library: string
  readonly group: number
  /** The same client at the process where permissions are revoked. */
  readonly there: (client: Client) => Client
}

/** How bob gets access to the library, how it is revoked, and what is revoked with it. */
interface Way {
  readonly shared: 'user' | 'group' | 'everyone' | 'owner'
  readonly end: (stage: Stage) => Promise<void>
  /** The library; the credential, so that the stream itself ends; or nothing. */
  readonly ends: 'library' | 'credential' | 'nothing'
  /** Nothing can happen in the library any more, so there is no event to withhold. */
  readonly isGone?: boolean
}

const admin = (path: string) => `/api/v2.1/admin/users/${path}`

const ways: Record<string, Way> = {
  unshare: {
    shared: 'user',
    ends: 'library',
    end: ({ ann, bob, library, there }) => unshare(there(ann), library, bob),
  },
  'leaving a group': {
    shared: 'group',
    ends: 'library',
    end: async ({ ann, bob, group, there }) =>
      ok(await there(ann).delete(`/api/v2.1/groups/${group}/members/${bob.email}/`)),
  },
  'a reduced permission': {
    shared: 'user',
    ends: 'nothing',
    end: async ({ ann, bob, library, there }) =>
      ok(
        await there(ann).post(`/api2/repos/${library}/dir/shared_items/`, {
          query: { p: '/', share_type: 'user', username: bob.email },
          form: { permission: 'r' },
        }),
      ),
  },
  'demotion to guest': {
    shared: 'everyone',
    ends: 'library',
    end: async ({ admin: boss, bob, there }) =>
      ok(await there(boss).put(admin(`${bob.email}/`), { form: { role: 'guest' } })),
  },
  deactivation: {
    shared: 'user',
    ends: 'credential',
    end: async ({ admin: boss, bob, there }) =>
      ok(await there(boss).put(admin(`${bob.email}/`), { form: { is_active: 'false' } })),
  },
  'deletion of the account': {
    shared: 'user',
    ends: 'credential',
    end: async ({ admin: boss, bob, there }) => ok(await there(boss).delete(admin(`${bob.email}/`))),
  },
  'a new password': {
    shared: 'user',
    ends: 'credential',
    end: async ({ bob, there }) =>
      ok(
        await there(bob).post('/api/v2.1/user/reset-password/', {
          form: { old_password: PASSWORD, new_password: 'another long password' },
        }),
      ),
  },
  'sign-out': {
    shared: 'user',
    ends: 'credential',
    end: async ({ bob, there }) => ok(await there(bob).post('/api2/logout-device/')),
  },
  'an unlinked device': {
    shared: 'user',
    ends: 'credential',
    end: async ({ bob, deviceId, there }) =>
      ok(await there(bob).delete('/api2/devices/', { form: { platform: 'linux', device_id: deviceId } })),
  },
  'deletion of the library': {
    shared: 'user',
    ends: 'library',
    isGone: true,
    end: async ({ ann, library, there }) => ok(await there(ann).delete(`/api2/repos/${library}/`)),
  },
  'transfer of the library': {
    shared: 'owner',
    ends: 'library',
    end: async ({ ann, bob, library, there }) =>
      ok(await there(bob).put(`/api2/repos/${library}/owner/`, { form: { owner: ann.email } })),
  },
}

function ok(reply: { status: number; text: string }): void {
  assert.equal(reply.status, 200, reply.text)
}

async function stage({ shared }: Way, url: string): Promise<Stage> {
  const ann = await server.signUp({ role: 'admin' })
  const { email } = await server.signUp({ password: PASSWORD })
  const deviceId = randomBytes(20).toString('hex')
  const signedIn = await server.anonymous.post('/api2/auth-token/', {
    form: {
      username: email,
      password: PASSWORD,
      platform: 'linux',
      device_id: deviceId,
      device_name: 'Laptop',
    },
  })
  ok(signedIn)
  const bob = new Client(server.url, signedIn.body.token, email)
  const group = await makeGroup(`g${randomUUID().slice(0, 8)}`, ann, bob)
  let library: string
  if (shared === 'owner') library = await bob.createLibrary('Plans')
  else if (shared === 'everyone') {
    const made = await ann.post('/api2/repos/public/', { form: { name: 'Plans', permission: 'rw' } })
    assert.equal(made.status, 201, made.text)
    library = made.body.repo_id
  } else library = await ann.createLibrary('Plans')
  await uploadFile(shared === 'owner' ? bob : ann, library, '/secret.txt', 'secret')
  if (shared === 'user') await shareWith(ann, library, bob)
  if (shared === 'group') await shareWithGroup(ann, library, group)
  const there = (client: Client) => new Client(url, client.token, client.email)
  return { ann, bob, admin: await server.admin(), deviceId, library, group, there }
}

/** Causes events in the library, in both processes, that bob must not receive any more. */
async function happen({ ann, library }: Stage): Promise<void> {
  for (const client of [ann, new Client(other.url, ann.token, ann.email)]) {
    for (const operation of ['lock', 'unlock']) {
      ok(await client.put(`/api2/repos/${library}/file/`, { form: { p: '/secret.txt', operation } }))
    }
    await uploadFile(client, library, `/${randomUUID()}.txt`, 'x')
  }
  await settled()
}

/** Resolves when all events of both processes were passed to the streams of this one. */
async function settled(): Promise<void> {
  const { log } = server.running.services.activity.live
  await log.settled()
  await log.poll()
}

/** Events of the library before the end of the stream, or before a marker event after all others. */
async function heardOf(stream: EventStream, library: string, mark?: string): Promise<string[]> {
  const heard: string[] = []
  for (let next = await stream.next(); next !== undefined; next = await stream.next()) {
    if (mark !== undefined && next.event === 'commit' && next.data.repo_id === mark) break
    if (next.data.repo_id === library) heard.push(next.event)
  }
  return heard
}

/** A half on each database, as in test/api/revocation. */
const chosen = sampleOfDatabase(Object.entries(ways), 6, testSeed())

for (const [where, urlOf] of [
  ['in the same process', () => server.url],
  ['in another process', () => other.url],
] as const) {
  describe(`pushed events end with a permission revoked ${where}`, () => {
    for (const [name, way] of chosen) {
      it(`on an event stream: ${name}`, async () => {
        const set = await stage(way, urlOf())
        const { bob, library } = set
        const mark = await bob.createLibrary('Mark')
        await settled()
        await using stream = await EventStream.open(bob)
        const { id: since } = await stream.nextOf('ready')
        await way.end(set)
        if (!way.isGone) await happen(set)
        if (way.ends === 'credential') {
          assert.deepEqual(await heardOf(stream, library), [])
          // The stream has ended, and cannot be reopened.
          assert.ok([401, 403].includes((await bob.get('/api/v2.1/events/')).status))
          return
        }
        await uploadFile(bob, mark, '/mark.txt', 'x')
        const heard = await heardOf(stream, library, mark)
        if (way.ends === 'nothing') assert.ok(heard.includes('lock') && heard.includes('commit'))
        else assert.deepEqual(heard, [])
        // A new stream and a resumed one do not receive it either.
        await settled()
        await using again = await EventStream.open(bob, { query: `?since=${since}` })
        const missed = await heardOf(again, library, mark)
        assert.equal(missed.length > 0, way.ends === 'nothing', missed.join())
      })

      it(`on a WebSocket: ${name}`, async () => {
        const set = await stage(way, urlOf())
        const { bob, library, deviceId } = set
        const sync = await SyncClient.link(bob, library)
        ok(await sync.call('GET', `permission-check/?op=download&client_id=${deviceId}&client_name=Laptop`))
        const jwt = await jwtOf(sync)
        // The upload of the stage was before.
        await settled()
        using listener = await NotificationClient.open(server.url)
        const about = (type: string) =>
          listener.until(({ type: one, content }) => one === type && content['repo_id'] === library)
        listener.say('subscribe', { id: library, jwt_token: jwt })
        // The rejection of a second subscription shows that the first was processed.
        listener.say('subscribe', { id: randomUUID(), jwt_token: '' })
        await listener.until(({ type }) => type === 'jwt-expired')
        listener.heard.length = 0
        await way.end(set)
        if (way.ends === 'nothing') {
          await happen(set)
          await about('file-lock-changed')
          await about('repo-update')
          return
        }
        if (!way.isGone) {
          await happen(set)
          // The client is only asked for a new token.
          await about('jwt-expired')
          assert.deepEqual(
            listener.heard.map(({ type }) => type),
            ['jwt-expired'],
          )
        }
        // The token is rejected on its next use, long before it expires, and no new one is issued.
        using next = await NotificationClient.open(server.url)
        next.say('subscribe', { id: library, jwt_token: jwt })
        assert.equal((await next.until(() => true)).type, 'jwt-expired')
        assert.ok([403, 404, 444].includes((await sync.call('GET', 'jwt-token')).status))
      })
    }

    it('on an event stream: nothing for an account that is a guest when the stream is opened', async () => {
      const set = await stage(ways['demotion to guest'] as Way, urlOf())
      const { bob, library } = set
      const mark = await bob.createLibrary('Mark')
      await settled()
      // An earlier stream of the same account is still open.
      await using earlier = await EventStream.open(bob)
      await earlier.nextOf('ready')
      await ways['demotion to guest']?.end(set)
      await using stream = await EventStream.open(bob)
      await stream.nextOf('ready')
      await happen(set)
      await uploadFile(bob, mark, '/mark.txt', 'x')
      assert.deepEqual(await heardOf(stream, library, mark), [])
      assert.deepEqual(await heardOf(earlier, library, mark), [])
    })
  })
}

describe('an event stream', () => {
  it('is closed to scoped tokens, so that it cannot outlive one', async () => {
    const bob = await server.signUp()
    const holder = await personalToken(bob, { permission: 'rw' })
    assert.equal((await holder.get('/api/v2.1/events/')).status, 403)
  })

  it('without events ends soon after its credential, and does not flush its buffer to a slow reader', async () => {
    const bob = await server.signUp()
    await using silent = await EventStream.open(bob)
    await silent.nextOf('ready')
    await using slow = await EventStream.open(bob)
    await slow.nextOf('ready')
    slow.pause()
    const { accounts, activity } = server.running.services
    const { key } = await accounts.get(bob.email)
    const tell = async (id: string) => {
      // Far more than the connection buffers, and less than what causes a reset.
      for (let n = 0; n < 100; n++) {
        activity.publishTask(key, {
          id: `${id}${n}${'x'.repeat(2000)}`,
          type: 'copy',
          state: 'running',
          done: n,
          total: 100,
        })
      }
      await activity.live.log.settled()
    }
    for (let round = 0; round < 40; round++) await tell('before ')
    await accounts.update(bob.email, { active: false }, undefined)
    await tell('after ')
    await silent.ended()
    slow.resume()
    await slow.ended()
    assert.ok(slow.waiting.every(({ data }) => !String(data.task_id).startsWith('after')))
    assert.ok(silent.waiting.every(({ data }) => !String(data.task_id).startsWith('after')))
  })
})
