import assert from 'node:assert/strict'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { carrelProcess } from '../support/command.ts'
import { addApp, codeOf } from '../support/second-factors.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'

const PASSWORD = 'open sesame now'
const APP_HOLDER = 'ann@example.org'

/** What was issued under the first key. */
interface Issued {
  readonly apiToken: string
  readonly libraryToken: string
  readonly library: string
  readonly link: string
  readonly cookie: string
  /** Of the authenticator app of another account. */
  readonly totpSecret: string
}

async function issue(server: TestServer): Promise<Issued> {
  const admin = await server.admin()
  const library = await admin.createLibrary('Kept')
  const made = await admin.post('/api/v2.1/share-links/', {
    form: { repo_id: library, path: '/', password: PASSWORD },
  })
  assert.equal(made.status, 200, made.text)
  const tokenReply = await admin.post(`/api/v2.1/repos/${library}/repo-api-tokens/`, {
    form: { app_name: 'app', permission: 'rw' },
  })
  assert.equal(tokenReply.status, 200, tokenReply.text)
  const link = made.body.token as string
  const opened = await fetch(`${server.url}/d/${link}/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ password: PASSWORD }),
    redirect: 'manual',
  })
  const cookie = opened.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ')
  assert.match(cookie, /^carrel-link-/)
  const ann = await server.signUp({ email: APP_HOLDER, password: 'a long password' })
  const { secret: totpSecret } = await addApp(ann)
  const { api_token: libraryToken } = tokenReply.body
  return { apiToken: admin.token ?? '', libraryToken, library, link, cookie, totpSecret }
}

async function expectPasswords(
  server: TestServer,
  { apiToken, libraryToken, library, link }: Issued,
): Promise<void> {
  const admin = new Client(server.url, apiToken)
  assert.equal((await admin.get('/api2/account/info/')).status, 200, 'the API token')
  const app = new Client(server.url, libraryToken)
  assert.equal((await app.get('/api/v2.1/via-repo-token/repo-info/')).status, 200, 'the library token')
  const tokens = await admin.get(`/api/v2.1/repos/${library}/repo-api-tokens/`)
  assert.equal(tokens.body.repo_api_tokens[0].api_token, libraryToken, 'the library token, shown again')
  const links = await admin.get('/api/v2.1/share-links/')
  assert.equal(links.body[0].password, PASSWORD, 'the link password, shown again')
  const visitor = new Client(server.url)
  const url = `/api/v2.1/share-links/${link}/dirents/`
  const right = await visitor.call('GET', url, { headers: { 'X-Link-Password': PASSWORD } })
  assert.equal(right.status, 200, right.text)
  const wrong = await visitor.call('GET', url, { headers: { 'X-Link-Password': 'something else' } })
  assert.notEqual(wrong.status, 200)
}

/** Sessions: what a browser keeps, and the token that another sign-in of the same account gets. */
async function expectSessions(server: TestServer, { apiToken, link, cookie }: Issued): Promise<void> {
  const page = await new Client(server.url).call('GET', `/api/v2.1/share-links/${link}/dirents/`, {
    headers: { Cookie: cookie },
  })
  assert.equal(page.status, 200, 'the cookie of a link')
  const again = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
  assert.equal(again.token, apiToken, 'signing in again gives the same API token')
}

describe('carrel secret', { timeout: 120_000 }, () => {
  let data = ''
  before(async () => {
    data = await mkdtemp(path.join(os.tmpdir(), 'carrel-secret-'))
  })
  after(() => rm(data, { recursive: true }))
  const file = () => path.join(data, 'secret')
  const run = (command: string, env = {}) =>
    carrelProcess(['secret', command, '--data', data, '--json'], { env })

  it('rotates twice and then retires the old keys, and nothing is lost', async () => {
    let issued: Issued
    {
      await using server = await startServer({ data })
      issued = await issue(server)
      const rotated = await run('rotate')
      assert.equal(rotated.code, 0, rotated.stderr)
      // The running server goes on with the key it has.
      await expectSessions(server, issued)
      const refused = await run('retire')
      assert.equal(refused.code, 3, refused.stderr)
    }
    const [first = '', second = ''] = readFileSync(file(), 'utf8').split('\n')
    assert.match(first, /^[0-9a-f]{64}$/)
    assert.match(second, /^previous [0-9a-f]{8} \d{4}-\S+Z [\w-]+$/)
    assert.equal(statSync(file()).mode & 0o777, 0o600)
    {
      await using server = await startServer({ data })
      await expectSessions(server, issued)
      await expectPasswords(server, issued)
    }
    assert.equal((await run('rotate')).code, 0)
    {
      await using server = await startServer({ data })
      await expectSessions(server, issued)
      await expectPasswords(server, issued)
    }
    const retired = await run('retire')
    assert.equal(retired.code, 0, retired.stderr)
    const { key, ...counts } = JSON.parse(retired.stdout)
    assert.match(key, /^[0-9a-f]{8}$/)
    assert.deepEqual(counts, { deletedKeys: 2, links: 1, webhooks: 0, libraryTokens: 1, totpSecrets: 1 })
    assert.match(readFileSync(file(), 'utf8'), /^[0-9a-f]{64}\n$/)
    await using server = await startServer({ data })
    await expectPasswords(server, issued)
    // Of the next step, because the code of this one may have been used.
    const code = codeOf(issued.totpSecret, Date.now() / 1000 + 30)
    const signedIn = await server.anonymous.post('/api2/auth-token/', {
      form: { username: APP_HOLDER, password: 'a long password' },
      headers: { 'X-Seafile-OTP': code },
    })
    assert.equal(signedIn.status, 200, signedIn.text)
  })

  it('keeps the old key of CARREL_SECRET in the file and prints the new one', async () => {
    rmSync(data, { recursive: true })
    const old = { CARREL_SECRET: 'a secret of the settings' }
    let issued: Issued
    {
      await using server = await startServer({ data, env: old })
      issued = await issue(server)
    }
    const rotated = await run('rotate', old)
    assert.equal(rotated.code, 0, rotated.stderr)
    const fresh = { CARREL_SECRET: JSON.parse(rotated.stdout).secret as string }
    assert.match(fresh.CARREL_SECRET, /^[0-9a-f]{64}$/)
    {
      await using server = await startServer({ data, env: fresh })
      await expectSessions(server, issued)
      await expectPasswords(server, issued)
    }
    await assert.rejects(startServer({ data }), /the secret in .* is too short/)
    assert.equal((await run('retire', fresh)).code, 0)
    await using server = await startServer({ data, env: fresh })
    await expectPasswords(server, issued)
  })
})
