import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'

const path = '/api/v2.1/device-authorization/'
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

type Anonymous = Pick<Client, 'post'>

interface Codes {
  readonly device_code: string
  readonly user_code: string
}

const begun = async (anonymous: Anonymous, form: Record<string, string> = {}): Promise<Codes> => {
  const reply = await anonymous.post(path, { form: { client_id: 'carrel', ...form } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const polled = async (anonymous: Anonymous, { device_code }: Codes, more: Record<string, string> = {}) => {
  const form = { grant_type: GRANT, client_id: 'carrel', device_code, ...more }
  return anonymous.post(`${path}token/`, { form })
}

const outcome = async (...args: Parameters<typeof polled>): Promise<string> =>
  (await polled(...args)).body.error ?? 'token'

const approved = async (user: Client, { user_code }: Codes, more: Record<string, unknown> = {}) => {
  const reply = await user.post(`${path}approve/`, {
    json: {
      user_code,
      name: 'carrel (laptop)',
      permission: 'rw',
      ...CONFIRMED,
      ...more,
    },
  })
  assert.equal(reply.status, 200, reply.text)
}

/** The tests move the clock, so the sign-in is not fresh. */
const CONFIRMED = { current_password: 'a long password' }

const ascending = (one: number, other: number) => one - other

describe(path, () => {
  let server: TestServer
  let user: Client
  let time = 1_754_000_000
  before(async () => {
    server = await startServer({ now: () => time })
    user = await server.signUp()
  })
  after(() => server[Symbol.asyncDispose]())

  it('gives a confirmed client a personal token, once, that is listed and can be revoked', async () => {
    const { anonymous, url } = server
    const library = await user.createLibrary('Notes')
    const reply = await anonymous.post(path, {
      form: { client_id: 'carrel', device_name: 'laptop', scope: 'r' },
    })
    const codes = reply.body
    assert.deepEqual(codes, {
      device_code: codes.device_code,
      user_code: codes.user_code,
      verification_uri: `${url}/app/device`,
      verification_uri_complete: `${url}/app/device#${codes.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    assert.match(codes.user_code, /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/)
    assert.match(codes.device_code, /^[0-9a-f]{64}$/)
    assert.equal(reply.headers.get('cache-control'), 'no-store')
    const rows = await server.running.services.db.all('select * from device_authorization')
    const stored = JSON.stringify(rows.map((row) => Object.values(row).map(String)))
    assert.ok(!stored.includes(codes.device_code) && !stored.includes(codes.user_code.replace('-', '')))

    const typed = ` ${codes.user_code.toLowerCase().replace('-', ' ')} `
    const shown = await user.post(`${path}check/`, { form: { user_code: typed } })
    assert.deepEqual(shown.body, {
      client_id: 'carrel',
      device_name: 'laptop',
      permission: 'r',
      address: shown.body.address,
      created_at: '2025-07-31T22:13:20+00:00',
      expires_at: '2025-07-31T22:23:20+00:00',
    })
    assert.match(shown.body.address, /127\.0\.0\.1|::1/)
    assert.equal(await outcome(anonymous, codes), 'authorization_pending')
    await approved(user, codes, { permission: 'rw', expire_days: 30 })
    assert.equal((await user.post(`${path}check/`, { form: { user_code: codes.user_code } })).status, 404)
    assert.equal(await outcome(anonymous, codes, { client_id: 'other' }), 'invalid_grant')
    const replies = await Promise.all([polled(anonymous, codes), polled(anonymous, codes)])
    assert.deepEqual(replies.map(({ status }) => status).toSorted(ascending), [200, 400])
    assert.equal(replies.find(({ status }) => status === 400)?.body.error, 'invalid_grant')
    const granted = replies.find(({ status }) => status === 200)?.body
    const { access_token: token } = granted
    assert.deepEqual(granted, {
      access_token: token,
      token_type: 'Bearer',
      scope: 'rw',
      expires_in: 30 * 86_400,
    })
    const client = new Client(url, token, user.email)
    assert.equal((await client.get('/api2/account/info/')).body.email, user.email)
    assert.equal((await client.get(`/api2/repos/${library}/dir/`)).status, 200)
    assert.equal((await client.get('/api/v2.1/personal-tokens/')).status, 403)
    const [listed] = (await user.get('/api/v2.1/personal-tokens/')).body.personal_tokens
    assert.deepEqual([listed.name, listed.permission], ['carrel (laptop)', 'rw'])
    const { entries } = await server.running.services.audit.list({ actor: user.email }, { limit: 2 })
    assert.deepEqual(
      entries.map(({ action, detail }) => [action, detail]),
      [
        ['api-token-made', { token: 'carrel (laptop)', permission: 'rw', via: 'device' }],
        ['device-approved', { token: 'carrel (laptop)', permission: 'rw' }],
      ],
    )
    assert.equal((await user.delete(`/api/v2.1/personal-tokens/${listed.id}/`)).status, 200)
    assert.equal((await client.get('/api2/account/info/')).status, 401)
  })

  it('tells a client that polls too often to slow down, each time by 5 seconds', async () => {
    const codes = await begun(server.anonymous)
    const after = async (seconds: number) => {
      time += seconds
      return outcome(server.anonymous, codes)
    }
    assert.equal(await after(0), 'authorization_pending')
    assert.equal(await after(3), 'slow_down')
    assert.equal(await after(5), 'slow_down')
    assert.equal(await after(15), 'authorization_pending')
    assert.equal(await after(15), 'authorization_pending')
    await approved(user, codes)
    assert.equal(await after(0), 'token')
  })

  it('ends after ten minutes by the clock of the database', async () => {
    const codes = await begun(server.anonymous)
    const late = await begun(server.anonymous)
    await approved(user, late)
    time += 599
    assert.equal((await user.post(`${path}check/`, { form: { user_code: codes.user_code } })).status, 200)
    time += 1
    for (const call of ['check', 'approve', 'deny']) {
      const json = { user_code: codes.user_code, name: 'x', permission: 'r', ...CONFIRMED }
      assert.equal((await user.post(`${path}${call}/`, { json })).status, 404)
    }
    assert.equal(await outcome(server.anonymous, codes), 'expired_token')
    assert.equal(await outcome(server.anonymous, late), 'expired_token')
    const { db, deviceAuthorizations } = server.running.services
    await deviceAuthorizations.deleteExpired()
    assert.notEqual((await db.all('select 1 from device_authorization')).length, 0)
    time += 3600
    await deviceAuthorizations.deleteExpired()
    assert.deepEqual(await db.all('select 1 from device_authorization'), [])
    assert.equal(await outcome(server.anonymous, codes), 'invalid_grant')
  })

  it('is denied by the person, who decides once', async () => {
    const codes = await begun(server.anonymous)
    const form = { user_code: codes.user_code }
    assert.equal((await user.post(`${path}deny/`, { form })).status, 200)
    assert.equal((await user.post(`${path}deny/`, { form })).status, 404)
    assert.equal(await outcome(server.anonymous, codes), 'access_denied')
    const { entries } = await server.running.services.audit.list({ actor: user.email }, { limit: 1 })
    assert.equal(entries[0]?.action, 'device-denied')
  })

  const endings: [name: string, end: (leaver: Client, admin: Client) => Promise<{ status: number }>][] = [
    ['signs out everywhere', (leaver) => leaver.delete('/api/v2.1/sessions/')],
    [
      'is deactivated',
      (leaver, admin) =>
        admin.put(`/api/v2.1/admin/users/${leaver.email}/`, { form: { is_active: 'false' } }),
    ],
    ['is deleted', (leaver, admin) => admin.delete(`/api/v2.1/admin/users/${leaver.email}/`)],
  ]
  for (const [name, end] of endings) {
    it(`gives no token if the account ${name} before the client fetches it`, async () => {
      const leaver = await server.signUp()
      const codes = await begun(server.anonymous)
      await approved(leaver, codes)
      assert.equal((await end(leaver, await server.admin())).status, 200)
      assert.equal(await outcome(server.anonymous, codes), 'access_denied')
      const sql =
        "select 1 from scoped_token where name = 'carrel (laptop)' and account_key = (select key from account where email = ?)"
      assert.deepEqual(await server.running.services.db.all(sql, leaver.email), [])
    })
  }

  it('is not approved by a token with a scope, or beyond the number of tokens', async () => {
    const someone = await server.signUp()
    const scoped = await personalToken(someone, { permission: 'rw' })
    const codes = await begun(server.anonymous)
    const json = { user_code: codes.user_code, name: 'x', permission: 'r' }
    for (const call of ['check', 'approve', 'deny']) {
      assert.equal((await scoped.post(`${path}${call}/`, { json })).status, 403)
      assert.equal((await server.anonymous.post(`${path}${call}/`, { json })).status, 403)
    }
    const other = await begun(server.anonymous)
    await approved(someone, other)
    for (let count = 1; count < 100; count++) await personalToken(someone, { permission: 'r' })
    const refused = await someone.post(`${path}approve/`, { json })
    assert.deepEqual(
      [refused.status, refused.body.error_msg],
      [400, 'There can be no more than 100 personal tokens.'],
    )
    assert.equal(await outcome(server.anonymous, other), 'access_denied')
  })

  it('signs out the client with its own token', async () => {
    const codes = await begun(server.anonymous)
    await approved(user, codes, { permission: 'upload' })
    const { access_token: token } = (await polled(server.anonymous, codes)).body
    const client = new Client(server.url, token, user.email)
    assert.equal((await client.post('/api2/logout-device/')).status, 200)
    assert.equal((await client.post('/api2/logout-device/')).status, 401)
    assert.equal((await user.get('/api2/auth/ping/')).status, 200)
  })

  const refusals: [call: string, form: Record<string, string>, error: string][] = [
    ['', {}, 'invalid_request'],
    ['', { client_id: ' ' }, 'invalid_request'],
    ['', { client_id: 'a\nb' }, 'invalid_request'],
    ['', { client_id: 'x'.repeat(65) }, 'invalid_request'],
    ['', { client_id: 'x', device_name: 'a\0b' }, 'invalid_request'],
    ['', { client_id: 'x', scope: 'admin' }, 'invalid_scope'],
    ['', { client_id: 'x', scope: 'constructor' }, 'invalid_scope'],
    ['token/', { client_id: 'x', device_code: 'y' }, 'invalid_request'],
    ['token/', { grant_type: GRANT, client_id: 'x' }, 'invalid_request'],
    ['token/', { grant_type: 'password', client_id: 'x', device_code: 'y' }, 'unsupported_grant_type'],
    ['token/', { grant_type: GRANT, client_id: 'x', device_code: 'y'.repeat(5000) }, 'invalid_grant'],
  ]
  for (const [call, form, error] of refusals) {
    it(`answers ${error} to ${call || 'a request'} with ${JSON.stringify(form).slice(0, 80)}`, async () => {
      const reply = await server.anonymous.post(`${path}${call}`, { form })
      assert.deepEqual([reply.status, reply.body.error], [400, error])
      assert.equal(typeof reply.body.error_description, 'string')
    })
  }
})

describe('limits of device authorizations', () => {
  it('holds 20 open requests of a network until the first ends', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time })
    await begun(server.anonymous)
    time += 100
    for (let count = 1; count < 20; count++) await begun(server.anonymous)
    const refused = await server.anonymous.post(path, { form: { client_id: 'carrel' } })
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '500'])
    time += 500
    await begun(server.anonymous)
    assert.equal((await server.anonymous.post(path, { form: { client_id: 'x' } })).status, 429)
  })

  it('holds 1,000 pending requests in total, and evicts those of who has most', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time })
    const { db, deviceAuthorizations } = server.running.services
    const user = await server.signUp()
    // Made first, so that it is the oldest of all.
    const own = await begun(server.anonymous)
    time += 1
    const asked = { clientId: 'x', deviceName: '', access: 'read', address: '192.0.2.1' } as const
    // Fifty addresses with 20 each, which block nobody; then 20 of another provider.
    for (let count = 0; count < 1000; count++)
      await deviceAuthorizations.begin(asked, `198.51.${100 + (count % 5)}.${count % 50}`)
    const others = []
    for (let count = 0; count < 20; count++) {
      others.push(await deviceAuthorizations.begin(asked, `2001:db8:${count}:1::`))
    }
    const pending = await db.all<{ network: string }>(
      "select network from device_authorization where state = 'pending'",
    )
    assert.equal(pending.length, 1000)
    assert.equal(pending.filter(({ network }) => network.startsWith('2001:')).length, 20)
    await approved(user, own)
    assert.equal(await outcome(server.anonymous, own), 'token')
    const { deviceCode } = others[0] ?? assert.fail()
    assert.partialDeepStrictEqual(await deviceAuthorizations.poll('x', deviceCode, '192.0.2.7'), {
      error: 'authorization_pending',
    })
  })

  it('throttles wrong user codes of an account, also between right ones', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time, env: { CARREL_RATE_LIMIT: 'on' } })
    const user = await server.signUp()
    const { user_code } = await begun(server.anonymous)
    const check = async (code: string) =>
      (await user.post(`${path}check/`, { form: { user_code: code } })).status
    for (let count = 0; count < 10; count++) {
      assert.equal(await check('BBBB-BBBB'), 404)
      if (count < 9) assert.equal(await check(user_code), 200)
    }
    for (const call of ['check', 'approve', 'deny']) {
      const json = { user_code, name: 'x', permission: 'r' }
      assert.equal((await user.post(`${path}${call}/`, { json })).status, 429)
    }
    const other = await server.signUp()
    assert.equal((await other.post(`${path}check/`, { form: { user_code } })).status, 200)
    time += 300
    assert.equal(await check(user_code), 200)
  })
})
