import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { Client } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { personalToken } from '../support/tokens.ts'
import { PASSWORD, signInOn } from './credential-support.ts'

const DAY = 86_400
const path = '/api/v2.1/sessions/'

async function signInAs(url: string, email: string, agent: string): Promise<Client> {
  const form = { username: email, password: PASSWORD }
  const reply = await new Client(url).post('/api2/auth-token/', { form, headers: { 'User-Agent': agent } })
  assert.equal(reply.status, 200, reply.text)
  return new Client(url, reply.body.token, email)
}

const ping = async (client: Client) => (await client.get('/api2/auth/ping/')).status

describe('sessions', () => {
  it('lists every session, including those without a device, and marks the current one', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time })
    const { email } = await server.signUp({ password: PASSWORD })
    const script = await signInAs(server.url, email, 'rclone/v1.70\u00e9')
    time += 60
    const laptop = await signInOn(server.url, email, 'laptop')
    const { status, body } = await laptop.get(path)
    assert.equal(status, 200)
    const [first, second] = body.sessions
    assert.deepEqual(first, {
      id: first.id,
      platform: 'linux',
      device_id: first.device_id,
      device_name: 'laptop',
      client_version: '',
      platform_version: '',
      user_agent: 'node',
      last_login_ip: '127.0.0.1',
      created_at: '2025-07-31T22:14:20+00:00',
      last_accessed: '2025-07-31T22:14:20+00:00',
      expires_at: '2026-01-27T22:14:20+00:00',
      wiped_at: null,
      is_current: true,
    })
    assert.match(second.user_agent, /^rclone\/v1\.70/)
    assert.deepEqual(
      [second.platform, second.device_id, second.device_name, second.is_current],
      ['', '', '', false],
    )
    assert.equal(body.sessions.length, 2)
    assert.ok(!JSON.stringify(body).includes(script.token ?? ''))
    // The format of the device list stays unchanged for clients.
    assert.equal((await laptop.get('/api2/devices/')).body.length, 1)
  })

  it('signs out one session and keeps the others, and rejects sessions of other accounts', async () => {
    await using server = await startServer()
    const [ann, bob] = [
      await server.signUp({ password: PASSWORD }),
      await server.signUp({ password: PASSWORD }),
    ]
    const laptop = await signInOn(server.url, ann.email, 'laptop')
    const { sessions } = (await ann.get(path)).body
    const other = sessions.find((one: { is_current: boolean }) => !one.is_current)
    for (const id of [other.id, 999_999]) {
      const refused = await bob.delete(`${path}${id}/`)
      assert.deepEqual([refused.status, refused.body], [404, { error_msg: `Session ${id} not found.` }])
    }
    for (const odd of ['0', 'x', '-1', '1e3', '99999999999999999999']) {
      assert.equal((await ann.delete(`${path}${odd}/`)).status, 404, odd)
    }
    assert.equal(await ping(laptop), 200)
    assert.deepEqual((await ann.delete(`${path}${other.id}/`)).body, { success: true })
    assert.deepEqual([await ping(laptop), await ping(ann)], [401, 200])
    assert.equal((await ann.delete(`${path}${other.id}/`)).status, 404)
  })

  it('signs out everywhere: sessions, personal tokens and the WebDAV password', async () => {
    await using server = await startServer()
    const [ann, bob] = [
      await server.signUp({ password: PASSWORD }),
      await server.signUp({ password: PASSWORD }),
    ]
    const laptop = await signInOn(server.url, ann.email, 'laptop')
    const script = await personalToken(ann, { permission: 'rw' })
    const secret = '/api/v2.1/webdav-secret/'
    assert.equal((await ann.put(secret, { form: { secret: 'Secret-123' } })).status, 200)
    assert.deepEqual((await laptop.delete(path)).body, { success: true })
    for (const client of [ann, laptop, script]) assert.equal(await ping(client), 401)
    assert.equal(await ping(bob), 200)
    const again = await signInAs(server.url, ann.email, 'x')
    assert.equal((await again.get(secret)).body.is_set, false)
    assert.equal((await again.get(path)).body.sessions.length, 1)
    const log = await (await server.admin()).get('/api/v2.1/admin/audit-log/', { action: 'logout' })
    assert.deepEqual(
      log.body.entries.map((entry: { actor: string; detail: unknown }) => [entry.actor, entry.detail]),
      [[ann.email, { everywhere: true }]],
    )
  })

  it('expire after the configured days without use, and their tokens are not issued again', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time, env: { CARREL_SESSION_IDLE_DAYS: '30' } })
    const { email } = await server.signUp({ password: PASSWORD })
    const laptop = await signInOn(server.url, email, 'laptop')
    const library = await laptop.createLibrary()
    const sync = await SyncClient.link(laptop, library)
    time += 30 * DAY
    assert.equal(await ping(laptop), 200)
    time += 30 * DAY
    assert.equal(await ping(laptop), 200)
    time += 30 * DAY + 1
    const refused = await laptop.get('/api2/auth/ping/')
    assert.deepEqual([refused.status, refused.body], [401, { detail: 'Invalid token' }])
    const again = await signInOn(server.url, email, 'laptop')
    assert.notEqual(again.token, laptop.token)
    assert.deepEqual([await ping(again), await ping(laptop)], [200, 401])
    // The sync tokens of the device stay valid: it was not signed out.
    assert.equal((await sync.call('GET', 'commit/HEAD')).status, 200)

    const { apiTokens, core } = server.running.services
    const count = async () => Number((await dbOf(core).get('select count(*) as n from api_token'))?.n)
    // Of the first session, which was never used; the laptop's was.
    assert.equal(await apiTokens.deleteIdle(), 1)
    time += 40 * DAY
    assert.equal(await ping(again), 401)
    // A device that syncs can still be unlinked.
    assert.equal(await apiTokens.deleteIdle(), 0)
    assert.equal(await count(), 1)
    assert.equal((await sync.call('GET', 'commit/HEAD')).status, 200)
  })

  it('never expire if the setting is 0', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time, env: { CARREL_SESSION_IDLE_DAYS: '0' } })
    const user = await server.signUp()
    time += 4000 * DAY
    assert.equal((await user.get(path)).body.sessions[0].expires_at, null)
    assert.equal(await server.running.services.apiTokens.deleteIdle(), 0)
    assert.equal(await ping(user), 200)
  })
})

describe('programs that use WebDAV', () => {
  const dav = async (url: string, email: string, secret: string, agent: string): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`${email}:${secret}`).toString('base64')}`
    const headers = { Authorization: authorization, 'User-Agent': agent, Depth: '0' }
    return (await fetch(`${url}/dav/`, { method: 'PROPFIND', headers })).status
  }
  const shown = async (client: Client) => {
    const { body } = await client.get(path)
    return body.webdav_clients.map(
      (one: { credential: string; token_name: string | null; user_agent: string }) =>
        `${one.user_agent} by ${one.credential}${one.token_name === null ? '' : ` ${one.token_name}`}`,
    )
  }

  it('are listed with their credential, and end with it', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time })
    const { url } = server
    const client = await server.signUp({ password: PASSWORD })
    const { email } = client
    assert.equal(await dav(url, email, PASSWORD, 'davfs2/1.6'), 207)
    assert.deepEqual(await shown(client), ['davfs2/1.6 by account-password'])
    const { webdav_clients: clients } = (await client.get(path)).body
    assert.deepEqual(clients[0], {
      id: clients[0].id,
      credential: 'account-password',
      token_id: null,
      token_name: null,
      user_agent: 'davfs2/1.6',
      last_login_ip: '127.0.0.1',
      created_at: '2025-07-31T22:13:20+00:00',
      last_accessed: '2025-07-31T22:13:20+00:00',
    })
    const set = async (secret: string) => {
      const reply = await client.put('/api/v2.1/webdav-secret/', {
        form: { secret, current_password: PASSWORD },
      })
      assert.equal(reply.status, 200, reply.text)
    }
    await set('davSecret-1')
    // The account password opens WebDAV no more.
    assert.deepEqual(await shown(client), [])
    assert.equal(await dav(url, email, PASSWORD, 'davfs2/1.6'), 401)
    assert.equal(await dav(url, email, 'davSecret-1', 'rclone/v1.70'), 207)
    time += 1
    const token = await personalToken(client, { permission: 'r', name: 'script' })
    assert.equal(await dav(url, email, token.token ?? '', 'rclone/v1.70'), 207)
    const both = ['rclone/v1.70 by personal-token script', 'rclone/v1.70 by webdav-password']
    assert.deepEqual(await shown(client), both)
    await set('')
    assert.deepEqual(await shown(client), both.slice(0, 1))
    assert.equal((await client.delete(`/api/v2.1/personal-tokens/${token.id}/`)).status, 200)
    assert.deepEqual(await shown(client), [])
    // Within the same hour, with the same password as before.
    await set('davSecret-1')
    assert.equal(await dav(url, email, 'davSecret-1', 'rclone/v1.70'), 207)
    assert.deepEqual(await shown(client), both.slice(1))
    await client.delete(path)
    assert.deepEqual(await shown(await Client.signIn(url, email, PASSWORD)), [])
  })

  it('are recorded once an hour and audited once a day, and refused ones are audited', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time })
    const { url } = server
    const client = await server.signUp({ password: PASSWORD })
    const { email } = client
    const admin = await server.admin()
    const audited = async (action: string) => {
      const { body } = await admin.get('/api/v2.1/admin/audit-log/', { actor: email, action })
      return body.entries.map(({ detail }: { detail: unknown }) => detail)
    }
    const lastUsed = async () => (await client.get(path)).body.webdav_clients[0].last_accessed
    for (const agent of ['rclone/v1.70', 'rclone/v1.71'])
      assert.equal(await dav(url, email, PASSWORD, agent), 207)
    const login = { via: 'webdav', credential: 'account-password' }
    assert.deepEqual(await audited('login'), [login])
    // Another node may have recorded the second request.
    const [recorded, ...others] = await shown(client)
    assert.match(recorded, /^rclone\/v1\.7[01] by account-password$/)
    assert.deepEqual(others, [])
    time += 3600
    await dav(url, email, PASSWORD, 'rclone/v1.71')
    assert.equal(await lastUsed(), '2025-07-31T23:13:20+00:00')
    assert.deepEqual(await audited('login'), [login])
    time += DAY
    await dav(url, email, PASSWORD, 'rclone/v1.71')
    assert.deepEqual(await audited('login'), [login, login])
    assert.equal(await dav(url, email, 'a wrong password', 'rclone/v1.71'), 401)
    assert.deepEqual(await audited('login-failed'), [{ reason: 'wrong-password', via: 'webdav' }])
    time += 91 * DAY
    await server.running.services.webdavClients.deleteOld()
    assert.deepEqual(await shown(await Client.signIn(url, email, PASSWORD)), [])
  })

  it('are at most 20 for an account: one that was not used for an hour makes room', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time })
    const client = await server.signUp({ password: PASSWORD })
    const use = (agent: string) => dav(server.url, client.email, PASSWORD, agent)
    for (let count = 0; count < 25; count++) assert.equal(await use(`program${count}/1`), 207)
    assert.equal((await shown(client)).length, 20)
    time += 3601
    await use('another/1')
    const found = await shown(client)
    assert.equal(found.length, 20)
    assert.equal(found[0], 'another/1 by account-password')
  })
})
