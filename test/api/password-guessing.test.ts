import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client, type Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PASSWORD = 'a long password'

describe('Guessing the password of an account', () => {
  let server: TestServer
  let time = 1_800_000_000
  before(async () => {
    server = await startServer({ env: { CARREL_RATE_LIMIT: 'on' }, now: () => time })
  })
  after(() => server[Symbol.asyncDispose]())

  const changeWith = (user: Client, old_password: string) =>
    user.post('/api/v2.1/user/reset-password/', { form: { old_password, new_password: 'another one' } })
  const signInWith = (username: string, password: string) =>
    server.anonymous.post('/api2/auth-token/', { form: { username, password } })
  const assertThrottled = ({ status, headers }: Reply) => {
    assert.equal(status, 429)
    assert.ok(Number(headers.get('retry-after')) > 0)
  }

  it('is throttled on a password change as on sign-in, for the right password too', async () => {
    const user = await server.signUp()
    for (let tries = 0; tries < 10; tries += 1) {
      const reply = await changeWith(user, `guess ${tries}`)
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'Old password incorrect' }])
    }
    assertThrottled(await changeWith(user, PASSWORD))
    assertThrottled(await signInWith(user.email, PASSWORD))
    time += 301
    assert.equal((await changeWith(user, PASSWORD)).status, 200)
  })

  it('is counted together for all routes that take the password', async () => {
    const user = await server.signUp()
    for (let tries = 0; tries < 5; tries += 1)
      assert.equal((await signInWith(user.email, 'guess')).status, 400)
    for (let tries = 0; tries < 5; tries += 1) assert.equal((await changeWith(user, 'guess')).status, 400)
    assertThrottled(await changeWith(user, PASSWORD))
    time += 301
  })

  it('does not reveal by throttling whether the account exists', async () => {
    const user = await server.signUp()
    const answers = async (username: string) => {
      const statuses: number[] = []
      for (let tries = 0; tries < 12; tries += 1) statuses.push((await signInWith(username, 'guess')).status)
      time += 301
      return statuses
    }
    const known = await answers(user.email)
    assert.deepEqual(await answers('nobody@example.org'), known)
    await server.running.services.accounts.update(user.email, { active: false }, undefined)
    assert.deepEqual(await answers(user.email), known)
  })
})

describe('A name that strangers guess', () => {
  it('is open to the network and the device of its last sign-in, on any process, and to nobody else', async () => {
    const env = { CARREL_RATE_LIMIT: 'on', CARREL_TRUSTED_PROXIES: '127.0.0.1' }
    await using server = await startServer({ env })
    const { email } = await server.signUp()
    const device = { platform: 'linux', device_id: 'd'.repeat(40), device_name: 'Laptop' }
    const statusFrom = async (address: string, form: Record<string, string> = {}) => {
      const headers = { 'X-Forwarded-For': address }
      const fields = { username: email, password: PASSWORD, ...form }
      return (await server.anonymous.post('/api2/auth-token/', { form: fields, headers })).status
    }
    assert.equal(await statusFrom('203.0.113.1', device), 200)
    for (let round = 0; round < 10; round += 1) {
      const guesses = Array.from({ length: 10 }, (_, index) =>
        statusFrom(`198.51.100.${index}`, { password: 'guess' }),
      )
      assert.deepEqual(new Set(await Promise.all(guesses)), new Set([400]))
    }
    assert.equal(await statusFrom('203.0.113.2'), 429)
    assert.equal(await statusFrom('203.0.113.1'), 200)
    assert.equal(await statusFrom('203.0.113.2', device), 200)
    const { db } = server.running.services
    const rows = JSON.stringify(await db.all('select * from password_attempt'))
    assert.ok(!rows.includes('203.0.113') && !rows.includes('ddd'), 'only hashes are stored')
  })

  it('has one budget in all spellings, at every door', async () => {
    await using server = await startServer({ env: { CARREL_RATE_LIMIT: 'on' } })
    const { accounts } = server.running.services
    await accounts.create({ email: 'ren\u00e9-zo\u00e9@example.org', password: PASSWORD }, undefined)
    const spellings = [
      'ren\u00e9-zo\u00e9',
      'rene\u0301-zo\u00e9',
      'REN\u00c9-ZOE\u0301',
      ' rene\u0301-zoe\u0301',
    ]
    const statuses: number[] = []
    for (const name of [...spellings, ...spellings, ...spellings]) {
      const username = `${name}@example.org`
      const form = { username, password: 'guess' }
      if (statuses.length % 2 === 0) {
        statuses.push((await server.anonymous.post('/api2/auth-token/', { form })).status)
        continue
      }
      const basic = Buffer.from(`${username.trim()}:guess`).toString('base64')
      const reply = await fetch(`${server.url}/dav/`, {
        method: 'PROPFIND',
        headers: { Authorization: `Basic ${basic}`, Depth: '0' },
      })
      statuses.push(reply.status)
    }
    assert.deepEqual(statuses, [400, 401, 400, 401, 400, 401, 400, 401, 400, 401, 429, 429])
  })
})

describe('Sign-ins during a flood of password checks', () => {
  it('of one client wait for a few of its checks, not for all of them', async () => {
    const env = { CARREL_TRUSTED_PROXIES: '127.0.0.1' }
    await using server = await startServer({ env, hashesSlowly: true })
    const flooder = await server.signUp()
    const other = await server.signUp()
    let done = 0
    const flood = Array.from({ length: 60 }, async (_, index) => {
      await flooder.post('/api/v2.1/user/reset-password/', {
        form: { old_password: `guess ${index}`, new_password: 'another one' },
        headers: { 'X-Forwarded-For': '203.0.113.9' },
      })
      done += 1
    })
    // The first response shows that the flood has arrived.
    await Promise.race(flood)
    const before = done
    const reply = await new Client(server.url).post('/api2/auth-token/', {
      form: { username: other.email, password: PASSWORD },
      headers: { 'X-Forwarded-For': '203.0.113.10' },
    })
    const waitedFor = done - before
    await Promise.all(flood)
    assert.equal(reply.status, 200)
    assert.ok(waitedFor < 30, `${waitedFor} checks of another client were made first`)
  })

  it('are answered with 429 and Retry-After beyond the queue limit of one client', async () => {
    await using server = await startServer({
      env: { CARREL_RATE_LIMIT: 'on', CARREL_TRUSTED_PROXIES: '127.0.0.1' },
    })
    const headers = { 'X-Forwarded-For': '203.0.113.9' }
    const other = await server.signUp()
    const flood = Array.from({ length: 59 }, (_, index) =>
      server.anonymous.post('/api2/auth-token/', {
        form: { username: `name ${index}`, password: 'guess' },
        headers,
      }),
    )
    const replies = await Promise.all(flood)
    const busy = replies.filter(({ status }) => status === 429)
    assert.ok(busy.length > 0, 'nothing was rejected')
    for (const { headers: sent, body } of busy) {
      assert.ok(Number(sent.get('retry-after')) > 0)
      assert.equal(typeof body, 'object')
    }
    assert.ok(replies.every(({ status }) => status === 400 || status === 429))
    await Client.signIn(server.url, other.email, PASSWORD)
  })
})
