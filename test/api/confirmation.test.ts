import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client, type Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type SmtpReceiver, startSmtpReceiver } from '../support/smtp-receiver.ts'
import { eventually } from '../support/transfer.ts'
import { PASSWORD, signInOn } from './credential-support.ts'

const NEEDED = 'This has to be confirmed with your current password.'
const WRONG = 'The current password is wrong.'
const TEN_MINUTES = 600

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

/** A session that signed in with the password long ago, such as one that was stolen. */
async function oldSession(): Promise<Client> {
  const { email } = await server.signUp({ password: PASSWORD })
  const client = await signInOn(server.url, email, email)
  time += TEN_MINUTES
  return client
}

const begun = async (): Promise<{ device_code: string; user_code: string }> =>
  ok(await new Client(server.url).post('/api/v2.1/device-authorization/', { form: { client_id: 'backup' } }))
    .body

/** The calls that make something that outlives the session, with the body `more`. */
const calls: Record<string, (client: Client, more: Record<string, string>) => Promise<Reply>> = {
  'a personal token': (client, more) =>
    client.post('/api/v2.1/personal-tokens/', { form: { name: 'script', permission: 'r', ...more } }),
  'a WebDAV password': (client, more) =>
    client.put('/api/v2.1/webdav-secret/', { form: { secret: 'davSecret-1', ...more } }),
  'the approval of a program': async (client, more) => {
    const { user_code } = await begun()
    const form = { user_code, name: 'backup', permission: 'rw', ...more }
    return client.post('/api/v2.1/device-authorization/approve/', { form })
  },
  'a contact address': (client, more) =>
    client.put('/api/v2.1/user/', { form: { contact_email: `other.${client.email}`, ...more } }),
}

describe('what outlives a session is made only by who knows the password', () => {
  for (const [what, call] of Object.entries(calls)) {
    it(`${what} needs the password, unless it was given in the last ten minutes`, async () => {
      const client = await oldSession()
      const refused = await call(client, {})
      assert.deepEqual([refused.status, refused.body], [403, { error_msg: NEEDED }])
      assert.equal(refused.headers.get('x-carrel-confirmation'), 'required')
      const wrong = await call(client, { current_password: 'a wrong password' })
      assert.deepEqual([wrong.status, wrong.body], [403, { error_msg: WRONG }])
      ok(await call(client, { current_password: PASSWORD }))
      const fresh = await signInOn(server.url, client.email, client.email)
      time += TEN_MINUTES - 1
      ok(await call(fresh, {}))
    })
  }

  it('a session that a program opened in the browser is not fresh', async () => {
    const client = await signInOn(server.url, (await server.signUp({ password: PASSWORD })).email, 'desk')
    const { token } = ok(await client.post('/api2/client-login/')).body
    const form = { token, device_id: 'b'.repeat(40), device_name: 'browser' }
    const opened = ok(await new Client(server.url).post('/api/v2.1/client-login/', { form })).body.token
    assert.equal((await calls['a personal token']?.(new Client(server.url, opened), {}))?.status, 403)
  })

  it('an administrator who gets the token of an account gets no lasting one', async () => {
    const { email } = await server.signUp({ password: PASSWORD })
    time += TEN_MINUTES
    const admin = await server.admin()
    const path = '/api/v2.1/admin/generate-user-auth-token/'
    const { token } = ok(await admin.post(path, { form: { email } })).body
    assert.equal((await calls['a personal token']?.(new Client(server.url, token), {}))?.status, 403)
  })

  it('removing the WebDAV password and changing the name need no password', async () => {
    const client = await oldSession()
    ok(await client.put('/api/v2.1/webdav-secret/', { form: { secret: '' } }))
    ok(await client.put('/api/v2.1/user/', { form: { name: 'Ann' } }))
  })
})

describe('a library token', () => {
  const path = (id: string) => `/api/v2.1/repos/${id}/repo-api-tokens/`
  const made = async (client: Client, id: string, app_name: string, more: Record<string, string> = {}) =>
    new Client(server.url, ok(await client.post(path(id), { form: { app_name, ...more } })).body.api_token)
  const status = async (app: Client) => (await app.get('/api/v2.1/via-repo-token/repo-info/')).status

  it('ends with the session that made it, unless that was confirmed', async () => {
    const client = await oldSession()
    const id = await client.createLibrary()
    const derived = await made(client, id, 'derived')
    const confirmed = await made(client, id, 'confirmed', { current_password: PASSWORD })
    assert.deepEqual([await status(derived), await status(confirmed)], [200, 200])
    ok(await client.post('/api2/logout-device/'))
    assert.deepEqual([await status(derived), await status(confirmed)], [401, 200])
  })

  it('ends when the device of its session is to be wiped', async () => {
    const client = await oldSession()
    const derived = await made(client, await client.createLibrary(), 'derived')
    const [device] = ok(await client.get('/api2/devices/')).body
    const form = { platform: device.platform, device_id: device.device_id, wipe_device: 'true' }
    ok(await client.delete('/api2/devices/', { form }))
    assert.equal(await status(derived), 401)
  })

  it('keeps its session from being deleted unused, because it would end with it', async () => {
    const client = await oldSession()
    const derived = await made(client, await client.createLibrary(), 'derived')
    time += 200 * 86_400
    await server.running.services.apiTokens.deleteIdle()
    assert.equal(await status(derived), 200)
    assert.equal((await client.get('/api2/ping/')).status, 200)
    assert.equal((await client.get('/api2/auth/ping/')).status, 401)
  })

  it('is shown to sessions that know the password, and to the one it ends with', async () => {
    const client = await oldSession()
    const id = await client.createLibrary()
    await made(client, id, 'derived')
    await made(client, id, 'confirmed', { current_password: PASSWORD })
    const shown = async (by: Client) => {
      const { repo_api_tokens: tokens } = ok(await by.get(path(id))).body
      return tokens.map((token: { api_token: string }) => token.api_token !== '')
    }
    assert.deepEqual(await shown(client), [false, true])
    const changed = await client.put(`${path(id)}confirmed/`, { form: { permission: 'r' } })
    assert.equal(ok(changed).body.api_token, '')
    assert.deepEqual(await shown(await signInOn(server.url, client.email, 'another')), [true, true])
  })
})

describe('the owner is told of a credential that outlives the session', () => {
  /** Any node may send them, so they are waited for. */
  const mailTo = async (email: string, count: number) => {
    const sent = () => smtp.received.filter(({ to }) => to.includes(email))
    await eventually(async () => assert.equal(sent().length, count))
    return sent()
  }
  const notices = async (client: Client) =>
    ok(await client.get('/api/v2.1/notifications/')).body.notification_list.map(
      ({ type, detail }: { type: string; detail: unknown }) => [type, detail],
    )

  it('by a notification and a mail, also if it declined mails', async () => {
    const client = await oldSession()
    const { email } = client
    ok(await client.put('/api/v2.1/user/', { form: { mail_notices: 'off' } }))
    ok(await calls['a personal token']!(client, { current_password: PASSWORD }))
    ok(await calls['a WebDAV password']!(client, { current_password: PASSWORD }))
    const address = '127.0.0.1'
    assert.deepEqual(await notices(client), [
      ['credential_added', { kind: 'webdav', name: '', address }],
      ['credential_added', { kind: 'token', name: 'script', address }],
    ])
    const mails = await mailTo(email, 2)
    const texts = mails.map(({ text }) => text.replaceAll('\u2060', '')).join('\n')
    assert.equal(mails[0]?.headers.get('subject'), 'New access to your account')
    assert.match(
      texts,
      /The personal token “script” was created for your account .* from the address 127\.0\.0\.1\./,
    )
    assert.match(texts, /A WebDAV password was set for your account/)
    assert.match(texts, /https:\/\/files\.example\.org\/app\/account\/tokens/)
    assert.match(texts, /If this was not you, change your password at once\./)
  })

  it('of a program when it fetches its token, and of a library token with the library', async () => {
    const client = await oldSession()
    const id = await client.createLibrary('Plans')
    const { device_code, user_code } = await begun()
    const form = { user_code, name: 'backup', permission: 'rw', current_password: PASSWORD }
    ok(await client.post('/api/v2.1/device-authorization/approve/', { form }))
    assert.deepEqual(await notices(client), [])
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
    const poll = { form: { grant_type, client_id: 'backup', device_code } }
    ok(await new Client(server.url).post('/api/v2.1/device-authorization/token/', poll))
    const asked = { form: { app_name: 'app', current_password: PASSWORD } }
    ok(await client.post(`/api/v2.1/repos/${id}/repo-api-tokens/`, asked))
    assert.deepEqual(await notices(client), [
      [
        'credential_added',
        { kind: 'library', name: 'app', address: '127.0.0.1', repo_id: id, repo_name: 'Plans' },
      ],
      ['credential_added', { kind: 'device', name: 'backup', address: '127.0.0.1' }],
    ])
    await mailTo(client.email, 2)
  })

  it('by at most 30 mails a day', async () => {
    const client = await oldSession()
    for (let count = 0; count < 31; count++) {
      ok(await calls['a WebDAV password']!(client, { current_password: PASSWORD }))
    }
    await mailTo(client.email, 30)
    assert.equal((await notices(client)).length, 25)
  })

  it('not of a library token that ends with the session', async () => {
    const client = await oldSession()
    const id = await client.createLibrary()
    ok(await client.post(`/api/v2.1/repos/${id}/repo-api-tokens/`, { form: { app_name: 'app' } }))
    assert.deepEqual(await notices(client), [])
    await mailTo(client.email, 0)
  })
})
