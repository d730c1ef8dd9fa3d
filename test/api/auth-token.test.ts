import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'

const PASSWORD = 'a long password'
const laptop = { platform: 'linux', device_id: 'd'.repeat(40), device_name: 'Laptop' }

describe('POST /api2/auth-token/', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
    const { accounts } = server.running.services
    await accounts.create({ email: 'ann@example.org', password: PASSWORD, loginId: 'ann' }, undefined)
    await accounts.create(
      {
        email: 'bob@example.org',
        password: PASSWORD,
        contactEmail: 'bob@example.net',
        contactVerified: true,
      },
      undefined,
    )
    await accounts.create({ email: 'gone@example.org', password: PASSWORD, active: false }, undefined)
  })
  after(() => server[Symbol.asyncDispose]())
  const login = (form: Record<string, string>) => server.anonymous.post('/api2/auth-token/', { form })
  const loginAnn = (more: Record<string, string> = {}) =>
    login({ username: 'ann@example.org', password: PASSWORD, ...more })

  it('counts calls at all nodes and processes together', async () => {
    await using server = await startServer({ env: { CARREL_RATE_LIMIT: 'on' } })
    const urls = server.nodes.map(({ listening }) => listening.url)
    const call = async (url: string) => (await fetch(`${url}/api/docs`, { method: 'HEAD' })).status
    const calls = urls.flatMap((url) => Array<string>(60 / urls.length).fill(url))
    assert.deepEqual(new Set(await Promise.all(calls.map(call))), new Set([200]))
    for (const url of urls) {
      let status = await call(url)
      // A process alone would allow more calls than these.
      for (let tries = 0; tries < 15 && status !== 429; tries += 1) {
        await wait(250)
        status = await call(url)
      }
      assert.equal(status, 429)
    }
  })

  it('returns the same 40 hex characters for every encoding and every spelling of the path', async () => {
    const json = { username: 'ann@example.org', password: PASSWORD }
    const replies = await Promise.all([
      loginAnn(),
      server.anonymous.post('/api2/auth-token', { form: json }),
      server.anonymous.post('/api2/auth-token/', { multipart: json }),
      server.anonymous.post('/api2/auth-token/', { json }),
      server.anonymous.post('/api2/auth-token/x/y', { json }),
      login({ username: 'ann', password: PASSWORD }),
      login({ username: ' ANN@example.org', password: PASSWORD }),
    ])
    for (const { status, body, headers } of replies) {
      assert.equal(status, 200)
      assert.match(headers.get('content-type') ?? '', /^application\/json/)
      assert.deepEqual(Object.keys(body), ['token'])
      assert.match(body.token, /^[0-9a-f]{40}$/)
      assert.equal(body.token, replies[0]?.body.token)
    }
    assert.equal((await login({ username: 'bob@example.net', password: PASSWORD })).status, 200)
  })

  it('returns a separate, stable token for each device', async () => {
    const plain = (await loginAnn()).body.token
    const first = (await loginAnn(laptop)).body.token
    assert.equal((await loginAnn({ ...laptop, device_name: 'Renamed' })).body.token, first)
    const phone = { platform: 'android', device_id: 'A1b2', device_name: 'Phone' }
    const second = (await loginAnn(phone)).body.token
    assert.equal(new Set([plain, first, second]).size, 3)
  })

  const nonField = (text: string) => ({ non_field_errors: [text] })
  const wrong = nonField('Unable to login with provided credentials.')
  const refusals: [sent: Record<string, unknown>, body: unknown][] = [
    [{}, { username: ['This field is required.'], password: ['This field is required.'] }],
    [{ username: 'ann@example.org' }, { password: ['This field is required.'] }],
    [{ username: 'ann@example.org', password: '' }, { password: ['This field may not be blank.'] }],
    [{ username: '', password: 'x' }, { username: ['This field may not be blank.'] }],
    [{ username: 'ann@example.org', password: 'wrong' }, wrong],
    [{ username: 'nobody@example.org', password: PASSWORD }, wrong],
    [{ username: '../../etc/passwd', password: PASSWORD }, wrong],
    [{ username: 'x'.repeat(5000), password: 'x'.repeat(5000) }, wrong],
    [{ username: 'gone@example.org', password: 'wrong' }, wrong],
    [{ username: 'gone@example.org', password: PASSWORD }, wrong],
    [{ username: 'a\0', password: 'x' }, { username: ['Null characters are not allowed.'] }],
  ]
  for (const [sent, body] of refusals) {
    it(`answers ${JSON.stringify(sent).slice(0, 80)} with ${JSON.stringify(body)}`, async () => {
      const form = sent as Record<string, string>
      for (const options of [{ form }, { multipart: form }, { json: sent }]) {
        const reply = await server.anonymous.post('/api2/auth-token/', options)
        assert.equal(reply.status, 400)
        assert.deepEqual(reply.body, body)
      }
    })
  }

  const jsonRefusals: [json: unknown, body: unknown][] = [
    [
      { username: null, password: ['x', {}] },
      { username: ['This field may not be null.'], password: ['Not a valid string.'] },
    ],
    [{ username: {}, password: 'x' }, { username: ['Not a valid string.'] }],
    [{ username: 'ann\ud800@example.org', password: '\udfff' }, wrong],
    [['ann@example.org'], { username: ['This field is required.'], password: ['This field is required.'] }],
    [{ __proto__: 1, constructor: 'x', username: 'ann', password: 'x' }, wrong],
  ]
  for (const [json, body] of jsonRefusals) {
    it(`answers the JSON ${JSON.stringify(json)} with ${JSON.stringify(body)}`, async () => {
      const reply = await server.anonymous.post('/api2/auth-token/', { json })
      assert.deepEqual([reply.status, reply.body], [400, body])
    })
  }

  const devices: [more: Record<string, string>, text: string][] = [
    [{ platform: 'linux' }, 'invalid params'],
    [{ platform: 'linux', device_id: 'd'.repeat(40) }, 'invalid params'],
    [{ ...laptop, device_name: '' }, 'invalid params'],
    [{ ...laptop, platform: 'amiga' }, 'invalid platform'],
    [{ ...laptop, platform: '__proto__' }, 'invalid platform'],
    [{ ...laptop, device_id: 'd'.repeat(39) }, 'invalid device id'],
    [{ ...laptop, platform: 'android' }, 'invalid device id'],
    [{ ...laptop, platform: 'ios' }, 'invalid device id'],
  ]
  for (const [more, text] of devices) {
    it(`answers the device ${JSON.stringify(more)} with "${text}"`, async () => {
      const reply = await loginAnn(more)
      assert.deepEqual([reply.status, reply.body], [400, nonField(text)])
    })
  }

  it('answers an unreadable body with a JSON object, too', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const reply = await server.anonymous.post('/api2/auth-token/', { raw: '{', headers })
    assert.equal(reply.status, 400)
    assert.match(reply.body.detail, /^JSON parse error/)
    assert.equal((await server.anonymous.get('/api2/auth-token/')).status, 405)
  })
})

describe('Password guessing', () => {
  it('is throttled with 429 after ten attempts for five minutes', async () => {
    let time = 1_800_000_000
    const env = { CARREL_RATE_LIMIT: 'on' }
    await using server = await startServer({ env, now: () => time })
    const guess = (password: string) =>
      server.anonymous.post('/api2/auth-token/', { form: { username: ADMIN.email, password } })
    for (let i = 0; i < 10; i++) assert.equal((await guess('wrong')).status, 400)
    const reply = await guess(ADMIN.password)
    assert.equal(reply.status, 429)
    assert.deepEqual(reply.body, { detail: 'Request was throttled. Expected available in 300 seconds.' })
    assert.equal(reply.headers.get('retry-after'), '300')
    time += 301
    assert.equal((await guess(ADMIN.password)).status, 200)
  })

  it('is limited to 60 calls a minute from one address', async () => {
    await using server = await startServer({ env: { CARREL_RATE_LIMIT: 'on' } })
    const statuses = new Set<number>()
    for (let i = 0; i < 60; i++) {
      statuses.add((await server.anonymous.post('/api2/auth-token/', { form: { username: 'x' } })).status)
    }
    assert.deepEqual([...statuses], [400])
    const reply = await server.anonymous.post('/api2/auth-token/', { form: { username: 'x' } })
    assert.equal(reply.status, 429)
    assert.match(reply.body.detail, /^Request was throttled\. Expected available in \d+ seconds\.$/)
  })
})

describe('Ping, server information and devices', () => {
  let server: TestServer
  const time = 1_754_000_000
  before(async () => {
    server = await startServer({ now: () => time })
  })
  after(() => server[Symbol.asyncDispose]())

  it('answers pings, with and without an account', async () => {
    const user = await server.signUp()
    for (const path of ['/api2/ping/', '/api2/ping']) {
      const reply = await server.anonymous.get(path)
      assert.deepEqual([reply.status, reply.text], [200, '"pong"'])
    }
    assert.equal((await server.anonymous.call('HEAD', '/api2/ping/')).status, 200)
    for (const path of ['/api2/auth/ping/', '/api2/auth/ping']) {
      const reply = await user.get(path)
      assert.deepEqual([reply.status, reply.text], [200, '"pong"'])
    }
    const bearer = { headers: { Authorization: `bEARER ${user.token}` } }
    assert.equal((await server.anonymous.call('GET', '/api2/auth/ping/', bearer)).status, 200)
  })

  it('announces its features in a version that clients understand', async () => {
    const reply = await server.anonymous.get('/api2/server-info/')
    assert.equal(reply.status, 200)
    assert.match(reply.body.version, /^11\.\d+\.\d+$/)
    assert.deepEqual(reply.body, {
      version: reply.body.version,
      encrypted_library_version: 2,
      features: reply.body.features,
    })
  })

  it('lists devices without their tokens, unlinks them, and signs them out', async () => {
    const user = await server.signUp({ email: 'dev@example.org', password: PASSWORD })
    const form = { username: 'dev@example.org', password: PASSWORD, ...laptop, client_version: '9.0.4' }
    const { token } = (await server.anonymous.post('/api2/auth-token/', { form })).body
    const phone = { platform: 'ios', device_id: 'x'.repeat(36), device_name: 'Phone' }
    const other = (await server.anonymous.post('/api2/auth-token/', { form: { ...form, ...phone } })).body
      .token
    const headers = { 'X-Seafile-Client-Version': '9.0.5', 'X-Seafile-Platform-Version': '6.12' }
    await new Client(server.url, token).call('GET', '/api2/auth/ping/', { headers })

    const listed = await user.get('/api2/devices/')
    assert.equal(listed.status, 200)
    assert.deepEqual(listed.body, [
      {
        user: 'dev@example.org',
        ...laptop,
        client_version: '9.0.5',
        platform_version: '6.12',
        last_accessed: '2025-07-31T22:13:20+00:00',
        last_login_ip: '127.0.0.1',
        wiped_at: null,
        is_desktop_client: true,
        is_current: false,
      },
      {
        user: 'dev@example.org',
        ...phone,
        client_version: '9.0.4',
        platform_version: '',
        last_accessed: '2025-07-31T22:13:20+00:00',
        last_login_ip: '127.0.0.1',
        wiped_at: null,
        is_desktop_client: false,
        is_current: false,
      },
    ])
    assert.ok(!listed.text.includes(token))
    const asked = (await new Client(server.url, other).get('/api2/devices/')).body
    assert.deepEqual(
      asked.map((device: { is_current: boolean }) => device.is_current),
      [false, true],
    )

    const stranger = await server.signUp()
    const theirs = { platform: 'linux', device_id: laptop.device_id }
    assert.deepEqual((await stranger.delete('/api2/devices/', { form: theirs })).body, { success: true })
    assert.equal((await new Client(server.url, token).get('/api2/auth/ping/')).status, 200)

    for (const options of [
      { form: theirs },
      { multipart: theirs },
      { json: { ...theirs, wipe_device: true } },
    ]) {
      const reply = await user.delete('/api2/devices', options)
      assert.deepEqual([reply.status, reply.body], [200, { success: true }])
    }
    assert.equal((await new Client(server.url, token).get('/api2/auth/ping/')).status, 401)

    const device = new Client(server.url, other)
    const out = await device.post('/api2/logout-device/')
    assert.deepEqual([out.status, out.body], [200, {}])
    assert.equal((await device.get('/api2/auth/ping/')).status, 401)
    assert.deepEqual((await user.get('/api2/devices/')).body, [])
    assert.equal((await user.get('/api2/auth/ping/')).status, 200)
  })

  const bad: [json: unknown, message: string][] = [
    [{}, 'platform invalid.'],
    [{ platform: 'amiga', device_id: 'x' }, 'platform invalid.'],
    [{ platform: 'constructor', device_id: 'x' }, 'platform invalid.'],
    [{ platform: 'linux' }, 'device_id invalid.'],
    [{ platform: 'linux', device_id: '' }, 'device_id invalid.'],
    [{ platform: 'linux', device_id: 'a\0b' }, 'device_id invalid.'],
    [{ platform: 'linux', device_id: { a: 1 } }, 'device_id invalid.'],
  ]
  for (const [json, message] of bad) {
    it(`rejects unlinking ${JSON.stringify(json)}`, async () => {
      const user = await server.signUp()
      const reply = await user.delete('/api2/devices/', { json })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
    })
  }

  it('requires a token where one is needed', async () => {
    const calls: [method: string, path: string][] = [
      ['GET', '/api2/auth/ping/'],
      ['GET', '/api2/devices/'],
      ['DELETE', '/api2/devices/'],
      ['POST', '/api2/logout-device/'],
      ['GET', '/api2/account/info/'],
      ['PUT', '/api2/account/info/'],
      ['GET', '/api/v2.1/user/'],
      ['PUT', '/api/v2.1/user/'],
      ['POST', '/api/v2.1/user/reset-password/'],
    ]
    const wrong = new Client(server.url, '0'.repeat(40))
    for (const [method, path] of calls) {
      const none = await server.anonymous.call(method, path)
      const missing = { detail: 'Authentication credentials were not provided.' }
      assert.deepEqual([none.status, none.body], [403, missing], path)
      const bad = await wrong.call(method, path)
      assert.deepEqual([bad.status, bad.body], [401, { detail: 'Invalid token' }], path)
    }
  })
})
