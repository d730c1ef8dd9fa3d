import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { PASSWORD, signInOn } from './credential-support.ts'

const BROWSER = { device_id: 'b'.repeat(40), device_name: 'Firefox' }

const issued = async (client: Client): Promise<string> => {
  const { status, body } = await client.post('/api2/client-login/')
  assert.equal(status, 200)
  assert.match(body.token, /^[0-9a-f]{32}$/)
  return body.token
}

const exchange = (server: TestServer, token: string) =>
  server.anonymous.post('/api/v2.1/client-login/', { form: { token, ...BROWSER } })

/** The session that a client opens in a browser. */
const opened = async (server: TestServer, client: Client): Promise<Client> => {
  const reply = await exchange(server, await issued(client))
  assert.equal(reply.status, 200, reply.text)
  return new Client(server.url, reply.body.token, client.email)
}

const ping = async (client: Client) => (await client.get('/api2/auth/ping/')).status

describe('a link of a client into the web app', () => {
  it('signs a browser in once, within 30 seconds, and is stored as a hash', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time })
    const { email } = await server.signUp({ password: PASSWORD })
    const laptop = await signInOn(server.url, email, 'laptop')
    const token = await issued(laptop)
    const { core, audit } = server.running.services
    const rows = JSON.stringify(await dbOf(core).all('select * from sign_in_link'))
    assert.ok(rows.length > 2 && !rows.includes(token))
    const replies = await Promise.all([exchange(server, token), exchange(server, token)])
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((one, other) => one - other),
      [200, 400],
    )
    const refused = replies.find(({ status }) => status === 400)
    assert.deepEqual(refused?.body, { error_msg: 'token invalid.' })
    const session = replies.find(({ status }) => status === 200)?.body.token
    assert.notEqual(session, laptop.token)
    assert.equal(await ping(new Client(server.url, session)), 200)
    const { entries } = await audit.list({ actor: email, action: 'login' }, { limit: 1 })
    assert.deepEqual(entries[0]?.detail, { via: 'client' })

    const late = await issued(laptop)
    time += 30
    assert.equal((await exchange(server, late)).status, 400)
    for (const unknown of ['0'.repeat(32), '', 'x'.repeat(5000)]) {
      assert.equal((await exchange(server, unknown)).status, 400)
    }
    const form = { token: await issued(laptop), device_id: 'x' }
    const unnamed = await server.anonymous.post('/api/v2.1/client-login/', { form })
    assert.deepEqual([unnamed.status, unnamed.body], [400, { error_msg: 'device_id invalid.' }])
    await server.running.services.signInLinks.deleteExpired()
    time += 30
    await server.running.services.signInLinks.deleteExpired()
    assert.deepEqual(await dbOf(core).all('select * from sign_in_link'), [])
  })

  it('is issued to a sign-in, not to a visitor or a token with a scope', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    assert.equal((await server.anonymous.post('/api2/client-login/')).status, 403)
    const scoped = await personalToken(user, { permission: 'rw' })
    assert.equal((await scoped.post('/api2/client-login/')).status, 403)
  })

  const endings: [name: string, end: (server: TestServer, client: Client) => Promise<unknown>][] = [
    ['the client signs out', (_, client) => client.post('/api2/logout-device/')],
    [
      'its device is unlinked',
      async (server, client) => {
        const [device] = (await client.get('/api2/devices/')).body.filter(
          ({ device_name }: { device_name: string }) => device_name === 'laptop',
        )
        const form = { platform: device.platform, device_id: device.device_id }
        const other = await signInOn(server.url, client.email, 'other')
        return other.delete('/api2/devices/', { form })
      },
    ],
    [
      'its device is to be wiped',
      async (server, client) => {
        const [device] = (await client.get('/api2/devices/')).body.filter(
          ({ device_name }: { device_name: string }) => device_name === 'laptop',
        )
        const form = { platform: device.platform, device_id: device.device_id, wipe_device: true }
        const other = await signInOn(server.url, client.email, 'other')
        return other.delete('/api2/devices/', { form })
      },
    ],
    ['all sessions end', (_, client) => client.delete('/api/v2.1/sessions/')],
    [
      'the account is deactivated',
      async (server, client) =>
        (await server.admin()).put(`/api/v2.1/admin/users/${client.email}/`, {
          form: { is_active: 'false' },
        }),
    ],
  ]
  for (const [name, end] of endings) {
    it(`ends with its session when ${name}`, async () => {
      await using server = await startServer()
      const { email } = await server.signUp({ password: PASSWORD })
      const laptop = await signInOn(server.url, email, 'laptop')
      const session = await opened(server, laptop)
      const nested = await opened(server, session)
      const unused = await issued(laptop)
      assert.deepEqual([await ping(session), await ping(nested)], [200, 200])
      const ended = await end(server, laptop)
      assert.equal((ended as { status: number }).status, 200)
      assert.equal((await exchange(server, unused)).status, 400)
      assert.deepEqual([await ping(session), await ping(nested)], [401, 401])
    })
  }

  it('leaves a session with a password in the same browser alone, and is one session for each client', async () => {
    await using server = await startServer()
    const { email } = await server.signUp({ password: PASSWORD })
    const form = { username: email, password: PASSWORD, platform: 'linux', ...BROWSER }
    const signedIn = await server.anonymous.post('/api2/auth-token/', { form })
    const own = new Client(server.url, signedIn.body.token, email)
    const laptop = await signInOn(server.url, email, 'laptop')
    const first = await opened(server, laptop)
    const second = await opened(server, laptop)
    assert.equal(first.token, second.token)
    assert.notEqual(first.token, own.token)
    await second.post('/api2/logout-device/')
    assert.deepEqual([await ping(first), await ping(laptop), await ping(own)], [401, 200, 200])
    await laptop.post('/api2/logout-device/')
    assert.equal(await ping(own), 200)
  })

  it('leads to the web app, and never to another site', async () => {
    await using server = await startServer()
    const token = 'a'.repeat(32)
    const leads = async (query: string) => {
      const address = `${server.url}/client-login/?${query}`
      const reply = await fetch(address, { headers: { Accept: 'text/html' }, redirect: 'manual' })
      assert.equal(reply.status, 302)
      return reply.headers.get('location')
    }
    const page = '../app/client-login'
    assert.equal(await leads(`token=${token}`), `${page}#${token}`)
    assert.equal(
      await leads(`token=${token}&next=${encodeURIComponent('/library/x/Plans/a b')}`),
      `${page}?next=${encodeURIComponent('/library/x/Plans/a b')}#${token}`,
    )
    const hostile = [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      '/\t/evil',
    ]
    for (const next of hostile) {
      assert.equal(await leads(`token=${token}&next=${encodeURIComponent(next)}`), `${page}#${token}`)
    }
    assert.equal(await leads(`token=${encodeURIComponent('x" y')}`), page)
  })

  it('does not sign in whoever follows it from another site', async () => {
    await using server = await startServer()
    const token = 'a'.repeat(32)
    const leads = async (address: string, site: string) => {
      const headers = { Accept: 'text/html', 'Sec-Fetch-Site': site }
      const reply = await fetch(server.url + address, { headers, redirect: 'manual' })
      return reply.status === 302 ? reply.headers.get('location') : reply.status
    }
    const asked = `/client-login/?token=${token}&next=${encodeURIComponent('/library/x/')}`
    const page = `../app/client-login?next=${encodeURIComponent('/library/x/')}#${token}`
    for (const site of ['none', 'same-origin']) assert.equal(await leads(asked, site), page)
    for (const site of ['cross-site', 'same-site']) {
      assert.equal(await leads(asked, site), '../app/')
      // The page of the app, whose token no server sees.
      assert.equal(await leads('/app/client-login', site), '../app/')
      assert.equal(await leads('/app/client-login/?next=%2F', site), '../../app/')
      assert.notEqual(await leads('/app/device', site), '../app/')
    }
  })
})
