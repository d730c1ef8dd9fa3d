import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client, type Reply } from '../support/client.ts'
import { addApp, codeOf } from '../support/second-factors.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { type SmtpReceiver, startSmtpReceiver } from '../support/smtp-receiver.ts'
import { eventually } from '../support/transfer.ts'
import { PASSWORD } from './credential-support.ts'

const path = '/api/v2.1/second-factors/'
const DAY = 86_400
const STEP = 30
const MISSING = { non_field_errors: ['Two factor auth token is missing.'] }
const INVALID = { non_field_errors: ['Two factor auth token is invalid.'] }

let time = 1_800_000_000
let smtp: SmtpReceiver
let server: TestServer
before(async () => {
  smtp = await startSmtpReceiver()
  server = await startServer({
    now: () => time,
    env: {
      CARREL_MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
      CARREL_MAIL_FROM: 'Carrel <carrel@files.example.org>',
      CARREL_PUBLIC_URL: 'https://files.example.org',
    },
  })
})
after(async () => {
  await server[Symbol.asyncDispose]()
  await smtp[Symbol.asyncDispose]()
})

const ok = (reply: Reply): Reply => {
  assert.equal(reply.status, 200, reply.text)
  return reply
}

interface SignIn {
  readonly code?: string
  readonly trust?: string
  readonly trusts?: boolean
  readonly setup?: string
  readonly password?: string
}

function signIn(email: string, sent: SignIn = {}, at: TestServer = server): Promise<Reply> {
  const { code, trust, trusts, setup, password = PASSWORD } = sent
  return new Client(at.url).post('/api2/auth-token/', {
    form: { username: email, password, ...(setup !== undefined && { second_factor_setup: setup }) },
    headers: {
      ...(code !== undefined && { 'X-Seafile-OTP': code }),
      ...(trust !== undefined && { 'X-Seafile-S2FA': trust }),
      ...(trusts && { 'X-Seafile-2FA-Trust-Device': '1' }),
    },
  })
}

/** An account with an authenticator app, a step after it was set up. */
async function withApp() {
  const client = await server.signUp({ password: PASSWORD })
  const app = await addApp(client, time)
  time += STEP
  return { client, email: client.email, ...app, code: () => codeOf(app.secret, time) }
}

const asked = (reply: Reply, body: object) => {
  assert.deepEqual([reply.status, reply.body], [400, body])
  assert.equal(reply.headers.get('x-seafile-otp'), 'required')
}

const trustOf = async (email: string, code: string): Promise<string> => {
  const trust = ok(await signIn(email, { code, trusts: true })).headers.get('x-seafile-s2fa')
  assert.match(trust ?? '', /^[0-9a-f]{40}$/)
  return trust ?? ''
}

const webdav = async (email: string, secret: string, at: TestServer = server): Promise<number> => {
  const authorization = `Basic ${Buffer.from(`${email}:${secret}`).toString('base64')}`
  const headers = { Authorization: authorization, Depth: '0' }
  const response = await fetch(`${at.url}/dav/`, { method: 'PROPFIND', headers })
  await response.arrayBuffer()
  return response.status
}

describe('a sign-in with an authenticator app', () => {
  it('asks for a code after the right password only', async () => {
    const { email, code } = await withApp()
    asked(await signIn(email), MISSING)
    const wrong = await signIn(email, { password: 'another password', code: code() })
    assert.deepEqual(wrong.body, { non_field_errors: ['Unable to login with provided credentials.'] })
    assert.equal(wrong.headers.get('x-seafile-otp'), null)
    const { token } = ok(await signIn(email, { code: code() })).body
    assert.equal((await new Client(server.url, token).get('/api2/auth/ping/')).status, 200)
  })

  it('takes the codes of one step before and after, and no others', async () => {
    for (const [steps, isRight] of [
      [-2, false],
      [-1, true],
      [0, true],
      [1, true],
      [2, false],
    ] as const) {
      const { email, secret } = await withApp()
      time += 2 * STEP
      const reply = await signIn(email, { code: codeOf(secret, time + steps * STEP) })
      assert.equal(reply.status, isRight ? 200 : 400, `${steps} steps off`)
    }
  })

  it('takes a code once, and none from before it', async () => {
    const { email, secret, code } = await withApp()
    const first = code()
    const earlier = codeOf(secret, time - STEP)
    ok(await signIn(email, { code: first }))
    asked(await signIn(email, { code: first }), INVALID)
    asked(await signIn(email, { code: earlier }), INVALID)
    time += STEP
    const replies = await Promise.all([1, 2, 3, 4].map(() => signIn(email, { code: code() })))
    assert.deepEqual(
      replies.map(({ status }) => status).sort((a, b) => a - b),
      [200, 400, 400, 400],
      'of concurrent uses one succeeds',
    )
  })

  it('does not take the code that set up the app again', async () => {
    const client = await server.signUp({ password: PASSWORD })
    const { secret } = await addApp(client, time)
    asked(await signIn(client.email, { code: codeOf(secret, time) }), INVALID)
  })

  it('takes each recovery code once, however it is typed', async () => {
    const { client, email, recoveryCodes } = await withApp()
    assert.equal(new Set(recoveryCodes).size, 10)
    const [one = '', two = ''] = recoveryCodes
    ok(await signIn(email, { code: one }))
    asked(await signIn(email, { code: one }), INVALID)
    ok(await signIn(email, { code: ` ${two.toUpperCase().replaceAll('-', ' ')}` }))
    assert.equal(ok(await client.get(path)).body.recovery_codes, 8)
    const { recovery_codes: fresh } = ok(await client.post(`${path}recovery-codes/`)).body
    asked(await signIn(email, { code: recoveryCodes[2] ?? '' }), INVALID)
    ok(await signIn(email, { code: fresh[0] }))
  })

  it('does not take codes of another account', async () => {
    const ann = await withApp()
    const bob = await withApp()
    asked(await signIn(ann.email, { code: bob.code() }), INVALID)
    asked(await signIn(ann.email, { code: bob.recoveryCodes[0] ?? '' }), INVALID)
  })

  it('audits what was asked, what was wrong, and how it succeeded', async () => {
    const { email, code } = await withApp()
    await signIn(email)
    await signIn(email, { code: '000000' })
    await signIn(email, { code: code() })
    const admin = await server.admin()
    const { body } = ok(await admin.get('/api/v2.1/admin/audit-log/', { actor: email }))
    const shown = body.entries.map((one: { action: string; detail: object }) => [one.action, one.detail])
    assert.deepEqual(shown.slice(0, 4), [
      ['login', { factor: 'totp' }],
      ['login-failed', { reason: 'wrong-code' }],
      ['login-code-asked', {}],
      ['second-factor-added', { kind: 'totp' }],
    ])
  })

  it('stores no secret in clear text', async () => {
    const { secret, recoveryCodes } = await withApp()
    const { db } = server.running.services
    const tables = ['totp_secret', 'recovery_code', 'trusted_device', 'audit_entry', 'notification', 'mail']
    for (const table of tables) {
      const rows = await db.all<Record<string, unknown>>(`select * from ${table}`)
      const text = rows
        .map((row) =>
          Object.values(row)
            .map((value) => textOf(value))
            .join(' '),
        )
        .join('\n')
      for (const one of [secret, ...recoveryCodes]) assert.ok(!text.includes(one), table)
    }
  })
})

const textOf = (value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)

describe('guesses of codes', () => {
  it('are throttled for the account, wherever they come from, and right ones too', async () => {
    await using limited = await startServer({ now: () => time, env: { CARREL_RATE_LIMIT: 'on' } })
    const client = await limited.signUp({ password: PASSWORD })
    const { secret, recoveryCodes } = await addApp(client, time)
    time += STEP
    for (let tries = 0; tries < 10; tries += 1) {
      const guess = tries % 2 === 0 ? '000000' : 'aaaa-aaaa-aaaa-aaaa'
      asked(await signIn(client.email, { code: guess }, limited), INVALID)
    }
    const [recovery = ''] = recoveryCodes
    for (const code of [codeOf(secret, time), recovery]) {
      const reply = await signIn(client.email, { code }, limited)
      assert.equal(reply.status, 429)
      assert.ok(Number(reply.headers.get('retry-after')) > 0)
    }
    const confirming = { current_password: codeOf(secret, time) }
    assert.equal((await client.delete(path, { form: confirming })).status, 429)
    time += 300
    ok(await signIn(client.email, { code: codeOf(secret, time) }, limited))
  })
})

describe('a trusted device', () => {
  it('signs in without a code for 90 days, with the password', async () => {
    const { email, code } = await withApp()
    const trust = await trustOf(email, code())
    ok(await signIn(email, { trust }))
    assert.equal((await signIn(email, { trust, password: 'another password' })).status, 400)
    time += 90 * DAY - 1
    const again = ok(await signIn(email, { trust, trusts: true }))
    assert.equal(again.headers.get('x-seafile-s2fa'), null, 'trust does not renew itself')
    time += 1
    asked(await signIn(email, { trust }), MISSING)
    await server.running.services.secondFactors.deleteExpired()
    const rows = await server.running.services.db.all(
      'select 1 from trusted_device where expires_at <= ?',
      time,
    )
    assert.deepEqual(rows, [])
  })

  it('is of no use for another account', async () => {
    const ann = await withApp()
    const bob = await withApp()
    const trust = await trustOf(ann.email, ann.code())
    asked(await signIn(bob.email, { trust }), MISSING)
  })

  it('is listed, and ends at the next request when its owner ends it', async () => {
    const { client, email, code } = await withApp()
    const trust = await trustOf(email, code())
    const [device] = ok(await client.get(path)).body.trusted_devices
    assert.match(device.last_login_ip, /127\.0\.0\.1|::1/)
    const other = await server.signUp({ password: PASSWORD })
    assert.equal((await other.delete(`${path}trusted-devices/${device.id}/`)).status, 404)
    ok(await client.delete(`${path}trusted-devices/${device.id}/`))
    asked(await signIn(email, { trust }), MISSING)
    assert.deepEqual(ok(await client.get(path)).body.trusted_devices, [])
  })

  it('ends with the password, with signing out everywhere, and with the app', async () => {
    const endings: Record<string, (client: Client) => Promise<Reply>> = {
      'the password': (client) =>
        client.post('/api/v2.1/user/reset-password/', {
          form: { old_password: PASSWORD, new_password: 'another long password' },
        }),
      'signing out everywhere': (client) => client.delete('/api/v2.1/sessions/'),
      'another app': async (client) => {
        await addApp(client, time)
        return client.get(path)
      },
    }
    for (const [what, end] of Object.entries(endings)) {
      const { client, email, code } = await withApp()
      const trust = await trustOf(email, code())
      time += STEP
      ok(await end(client))
      const password = what === 'the password' ? 'another long password' : PASSWORD
      asked(await signIn(email, { trust, password }), MISSING)
    }
  })

  it('is one of at most 50', async () => {
    const { client, email, code } = await withApp()
    const first = await trustOf(email, code())
    const { accounts, db, secondFactors } = server.running.services
    const account = await accounts.get(email)
    for (let count = 0; count < 50; count += 1) {
      time += 1
      await db.write((tx) => secondFactors.trustIn(tx, account, { address: '192.0.2.1' }))
    }
    assert.equal(ok(await client.get(path)).body.trusted_devices.length, 50)
    asked(await signIn(email, { trust: first }), MISSING)
  })
})

describe('an account with a second factor', () => {
  it('opens WebDAV with a WebDAV password or a personal token, and not with its own', async () => {
    const client = await server.signUp({ password: PASSWORD })
    assert.equal(await webdav(client.email, PASSWORD), 207)
    const { secret } = await addApp(client, time)
    time += STEP
    assert.equal(await webdav(client.email, PASSWORD), 401, 'also where it was verified before')
    assert.deepEqual(ok(await client.get('/api/v2.1/sessions/')).body.webdav_clients, [])
    const form = { name: 'backup', permission: 'rw' }
    const { token } = ok(await client.post('/api/v2.1/personal-tokens/', { form })).body
    assert.equal(await webdav(client.email, token), 207)
    ok(await client.put('/api/v2.1/webdav-secret/', { form: { secret: 'davSecret-1' } }))
    assert.equal(await webdav(client.email, 'davSecret-1'), 207)
    assert.equal(await webdav(client.email, PASSWORD), 401)
    assert.equal(await webdav(client.email, codeOf(secret, time)), 401)
  })

  it('confirms with a code of its app as well as with its password', async () => {
    const { client, code, recoveryCodes } = await withApp()
    time += 600
    const make = (current_password?: string) =>
      client.post('/api/v2.1/personal-tokens/', {
        form: { name: 'script', permission: 'r', ...(current_password && { current_password }) },
      })
    assert.equal((await make()).status, 403)
    assert.equal((await make('000000')).headers.get('x-carrel-confirmation'), 'wrong')
    ok(await make(code()))
    assert.equal((await make(code())).status, 403, 'a code works once')
    assert.equal((await make(recoveryCodes[0])).status, 403)
    ok(await make(PASSWORD))
  })

  it('changes its factors only with a confirmation', async () => {
    const { client } = await withApp()
    const { setup, secret } = ok(await client.post(`${path}totp/`)).body
    time += 600
    const calls: Record<string, () => Promise<Reply>> = {
      replace: () => client.put(`${path}totp/`, { form: { setup, code: codeOf(secret, time) } }),
      remove: () => client.delete(path),
      codes: () => client.post(`${path}recovery-codes/`),
    }
    for (const [what, call] of Object.entries(calls)) {
      assert.equal((await call()).headers.get('x-carrel-confirmation'), 'required', what)
    }
  })

  it('removes them, and signs in with its password alone again', async () => {
    const { client, email, code, recoveryCodes } = await withApp()
    const trust = await trustOf(email, code())
    ok(await client.delete(path))
    ok(await signIn(email))
    const state = ok(await client.get(path)).body
    assert.deepEqual([state.totp, state.recovery_codes, state.trusted_devices], [null, 0, []])
    time += STEP
    const again = await addApp(client, time)
    asked(await signIn(email, { trust }), MISSING)
    asked(await signIn(email, { code: recoveryCodes[0] ?? '' }), INVALID)
    ok(await signIn(email, { code: again.recoveryCodes[0] ?? '' }))
  })

  it('is not set up with a wrong code, with the setup of another account, or with an old one', async () => {
    const ann = await server.signUp({ password: PASSWORD })
    const bob = await server.signUp({ password: PASSWORD })
    const offered = ok(await ann.post(`${path}totp/`)).body
    const put = (client: Client, code: string, setup = offered.setup) =>
      client.put(`${path}totp/`, { form: { setup, code, current_password: PASSWORD } })
    assert.match(offered.uri, /^otpauth:\/\/totp\/Carrel%20\(.*secret=[A-Z2-7]{32}&/)
    const invalid = { error_msg: 'code invalid.' }
    assert.deepEqual((await put(ann, '000000')).body, invalid)
    assert.deepEqual((await put(bob, codeOf(offered.secret, time))).body, invalid)
    assert.deepEqual((await put(ann, codeOf(offered.secret, time), 'made up')).body, invalid)
    time += 3600
    assert.deepEqual((await put(ann, codeOf(offered.secret, time))).body, invalid)
    ok(await signIn(ann.email))
  })

  it('is told by a mail and a notification of each change', async () => {
    const { client, email } = await withApp()
    ok(await client.post(`${path}recovery-codes/`))
    ok(await client.delete(path))
    await eventually(async () =>
      assert.equal(smtp.received.filter((mail) => mail.to.includes(email)).length, 3),
    )
    const subjects = smtp.received
      .filter((mail) => mail.to.includes(email))
      .map(({ headers }) => headers.get('subject'))
    assert.deepEqual(new Set(subjects), new Set(['The security of your account was changed']))
    const { body } = await client.get('/api/v2.1/notifications/')
    const kinds = body.notification_list.map((one: { detail: { kind: string } }) => one.detail.kind)
    assert.deepEqual(kinds.sort(), ['recovery-codes', 'second-factor', 'second-factor-removed'])
  })
})

describe('an administrator', () => {
  it('resets the second factor of an account, which is audited and mailed', async () => {
    const { client, email, code } = await withApp()
    const trust = await trustOf(email, code())
    const admin = await server.admin()
    const reset = `/api/v2.1/admin/users/${email}/second-factors/`
    assert.equal((await client.delete(reset)).status, 403)
    const user = async () => (await admin.get(`/api/v2.1/admin/users/${email}/`)).body.has_second_factor
    assert.equal(await user(), true)
    ok(await admin.delete(reset))
    assert.equal(await user(), false)
    assert.equal((await admin.delete(reset)).status, 404)
    ok(await signIn(email))
    const query = { action: 'second-factor-removed', object_id: email }
    const [entry] = ok(await admin.get('/api/v2.1/admin/audit-log/', query)).body.entries
    assert.equal(entry.actor, ADMIN.email)
    time += STEP
    await addApp(client, time)
    asked(await signIn(email, { trust }), MISSING)
    const text = 'An administrator removed the second factor'
    await eventually(async () =>
      assert.ok(smtp.received.some((mail) => mail.to.includes(email) && mail.text.includes(text))),
    )
  })
})

describe('a server that demands a second factor', () => {
  const start = (requiredOf: string, days: number) =>
    startServer({
      now: () => time,
      env: { CARREL_SECOND_FACTOR: requiredOf, CARREL_SECOND_FACTOR_GRACE_DAYS: String(days) },
    })

  it('says at sign-in until when, and then lets the sign-in set one up', async () => {
    await using strict = await start('everyone', 3)
    const client = await strict.signUp({ password: PASSWORD })
    const dueAt = async () => ok(await client.get(path)).body.due_at
    await strict.running.services.db.write((tx) => tx.run('update account set second_factor_due_at = null'))
    assert.equal(await webdav(client.email, 'a guess', strict), 401)
    assert.equal(await dueAt(), null, 'a guess begins nothing')
    assert.equal(await webdav(client.email, PASSWORD, strict), 207)
    assert.equal(Date.parse(await dueAt()), (time + 3 * DAY) * 1000)
    const due = new Date((time + 3 * DAY) * 1000).toISOString()
    const dueIn = async () => Date.parse(ok(await signIn(client.email, {}, strict)).body.second_factor_due_at)
    assert.equal(await dueIn(), Date.parse(due))
    time += DAY
    assert.equal(await dueIn(), Date.parse(due), 'the time is not renewed')
    const state = ok(await client.get(path)).body
    assert.deepEqual([state.is_required, Date.parse(state.due_at)], [true, Date.parse(due)])
    assert.equal(await webdav(client.email, PASSWORD, strict), 207)
    time += 2 * DAY
    assert.equal(await webdav(client.email, PASSWORD, strict), 401, 'no way around it')
    const refused = await signIn(client.email, {}, strict)
    assert.equal(refused.status, 400)
    assert.deepEqual(refused.body.non_field_errors, ['Two factor authentication must be set up.'])
    const { secret, setup } = refused.body.second_factor_setup
    const wrong = await signIn(client.email, { setup, code: '000000' }, strict)
    assert.deepEqual(wrong.body.non_field_errors, INVALID.non_field_errors)
    const code = codeOf(secret, time)
    assert.equal((await signIn(client.email, { setup, code, password: 'a guess' }, strict)).status, 400)
    const done = ok(await signIn(client.email, { setup, code, trusts: true }, strict))
    assert.equal(done.body.recovery_codes.length, 10)
    asked(await signIn(client.email, { setup, code }, strict), INVALID)
    ok(await signIn(client.email, { trust: done.headers.get('x-seafile-s2fa') ?? '' }, strict))
    const session = new Client(strict.url, done.body.token)
    assert.deepEqual((await session.delete(path)).body, { error_msg: 'A second factor is required.' })
  })

  it('may demand it of administrators only', async () => {
    await using strict = await start('administrators', 0)
    const client = await strict.signUp({ password: PASSWORD })
    assert.deepEqual(Object.keys(ok(await signIn(client.email, {}, strict)).body), ['token'])
    const { accounts } = strict.running.services
    await accounts.create({ email: 'boss@example.org', password: PASSWORD, role: 'admin' }, undefined)
    const refused = await signIn('boss@example.org', {}, strict)
    const { secret, setup } = refused.body.second_factor_setup
    const together = [1, 2].map(() =>
      signIn('boss@example.org', { setup, code: codeOf(secret, time) }, strict),
    )
    const statuses = (await Promise.all(together)).map(({ status }) => status)
    assert.deepEqual(
      statuses.sort((a, b) => a - b),
      [200, 400],
      'of two that set it up at the same time one gets in',
    )
  })
})
