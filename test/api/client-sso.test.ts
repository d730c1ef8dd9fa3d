import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { PASSWORD } from './credential-support.ts'

const path = '/api2/client-sso-link/'
const CODES = '/api/v2.1/device-authorization/'
const DESKTOP = {
  shib_platform: 'windows',
  shib_device_id: 'd'.repeat(40),
  shib_device_name: 'Ann’s laptop',
  shib_client_version: '9.0.16',
  shib_platform_version: '',
}
const BROWSER = { headers: { Accept: 'text/html' }, redirect: 'manual' } as const

/** How each official client finds the token in the link. */
const TOKEN_OF = {
  desktop: (link: string) => /\/client-sso\/([^/]+)/.exec(link)?.[1],
  Android: (link: string) => link.replace(/\/+$/, '').split('/').at(-1),
  iOS: (link: string) => link.split('client-sso/')[1]?.replace(/\/$/, ''),
}

describe(path, () => {
  let server: TestServer
  let user: Client
  let time = 1_754_000_000
  before(async () => {
    server = await startServer({ now: () => time })
    user = await server.signUp({ password: PASSWORD })
  })
  after(() => server[Symbol.asyncDispose]())

  const begun = async (query: Record<string, string> = {}): Promise<string> => {
    const reply = await server.anonymous.post(path, { query })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(Object.keys(reply.body), ['link'])
    return reply.body.link
  }
  const polled = async (token = '') => (await server.anonymous.get(`${path}${token}/`)).body
  /** The user code that the page gets, as a browser follows the link. */
  const opened = async (link: string): Promise<string> => {
    const reply = await fetch(link, BROWSER)
    assert.equal(reply.status, 302)
    const { href, hash } = new URL(reply.headers.get('location') ?? '', link)
    assert.equal(href, `${server.url}/app/device${hash}`)
    return hash.slice(1)
  }
  const approved = async (user_code: string, more: Record<string, string> = {}) => {
    const form = { user_code, name: 'app', permission: 'session', current_password: PASSWORD, ...more }
    return (await user.post(`${CODES}approve/`, { form })).status
  }

  it('signs a desktop client in by the calls that it makes, to a session that is listed and can be unlinked', async () => {
    const { features } = (await server.anonymous.get('/api2/server-info/')).body
    assert.ok(features.includes('client-sso-via-local-browser'))
    const link = await begun(DESKTOP)
    const token = TOKEN_OF.desktop(link)
    assert.equal(link, `${server.url}/client-sso/${token}/?${new URLSearchParams(DESKTOP).toString()}`)
    assert.deepEqual(await polled(token), { status: 'waiting' })
    const user_code = await opened(link)
    const shown = (await user.post(`${CODES}check/`, { form: { user_code } })).body
    assert.deepEqual(
      [shown.client_id, shown.device_name, shown.permission],
      ['windows 9.0.16', 'Ann’s laptop', 'session'],
    )
    assert.deepEqual(await polled(token), { status: 'waiting' })
    assert.equal(await approved(user_code), 200)
    const both = await Promise.all([polled(token), polled(token)])
    const done = both.find(({ status }) => status === 'success')
    assert.deepEqual(done, { status: 'success', username: user.email, apiToken: done.apiToken })
    assert.match(done.apiToken, /^[0-9a-f]{40}$/)
    assert.equal(both.filter(({ status }) => status === 'success').length, 1, 'only once')
    assert.equal((await server.anonymous.get(`${path}${token}/`)).status, 404)

    const client = new Client(server.url, done.apiToken, user.email)
    assert.equal((await client.get('/api2/account/info/')).body.email, user.email)
    const library = await client.createLibrary('Notes')
    await SyncClient.link(client, library)
    const [device] = (await user.get('/api2/devices/')).body
    assert.deepEqual(
      [device.platform, device.device_name, device.client_version],
      ['windows', 'Ann’s laptop', '9.0.16'],
    )
    const { entries } = await server.running.services.audit.list({ actor: user.email }, { limit: 3 })
    assert.deepEqual(
      entries.filter(({ action }) => action === 'login').map(({ detail }) => detail),
      [{ via: 'client-sso', client: 'app' }],
    )
    const notices = (await user.get('/api/v2.1/notifications/')).body.notification_list
    assert.equal(notices[0].type, 'credential_added')
    // Its session is not confirmed by its age: nobody typed the password there.
    const made = await client.post('/api/v2.1/personal-tokens/', { form: { name: 'x', permission: 'r' } })
    assert.equal(made.status, 403)
    const unlinked = { form: { platform: 'windows', device_id: DESKTOP.shib_device_id } }
    assert.equal((await user.delete('/api2/devices/', unlinked)).status, 200)
    assert.equal((await client.get('/api2/account/info/')).status, 401)
  })

  it('signs phone clients in, which send no device', async () => {
    for (const app of ['Android', 'iOS'] as const) {
      const link = await begun()
      const token = TOKEN_OF[app](link)
      assert.equal(link, `${server.url}/client-sso/${token}/`)
      assert.equal(await approved(await opened(link)), 200)
      const { apiToken, ...others } = await polled(token)
      assert.deepEqual(others, { status: 'success', username: user.email })
      assert.equal((await new Client(server.url, apiToken).get('/api2/auth/ping/')).status, 200)
    }
  })

  it('answers error once access was denied, has expired, or the account signed out everywhere', async () => {
    const denied = await begun()
    const form = { user_code: await opened(denied) }
    assert.equal((await user.post(`${CODES}deny/`, { form })).status, 200)
    assert.deepEqual(await polled(TOKEN_OF.desktop(denied)), { status: 'error' })

    const late = await begun()
    assert.equal(await approved(await opened(late)), 200)
    time += 600
    assert.deepEqual(await polled(TOKEN_OF.desktop(late)), { status: 'error' })

    const ended = await begun()
    assert.equal(await approved(await opened(ended)), 200)
    const other = { old_password: PASSWORD, new_password: `${PASSWORD}!` }
    assert.equal((await user.post('/api/v2.1/user/reset-password/', { form: other })).status, 200)
    assert.deepEqual(await polled(TOKEN_OF.desktop(ended)), { status: 'error' })
    user = await Client.signIn(server.url, user.email, other.new_password)
    const back = { old_password: other.new_password, new_password: PASSWORD }
    await user.post('/api/v2.1/user/reset-password/', { form: back })
    user = await Client.signIn(server.url, user.email, PASSWORD)
  })

  it('gives nothing but what was asked for and confirmed, and the links of nobody else', async () => {
    const link = await begun(DESKTOP)
    const token = TOKEN_OF.desktop(link) ?? ''
    const user_code = await opened(link)
    assert.equal(await approved(user_code, { current_password: 'wrong' }), 403)
    for (const permission of ['r', 'rw', 'upload'])
      assert.equal(await approved(user_code, { permission }), 404)
    const code = (await server.anonymous.post(CODES, { form: { client_id: 'carrel' } })).body
    assert.equal(await approved(code.user_code), 404, 'a code asks for a token, not for a session')
    assert.equal((await server.anonymous.get(`${path}${code.device_code}/`)).status, 404)
    assert.equal(await approved(user_code), 200)
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: 'windows 9.0.16',
      device_code: token,
    }
    assert.equal((await server.anonymous.post(`${CODES}token/`, { form })).body.error, 'invalid_grant')
    assert.equal((await polled(token)).status, 'success')
    assert.equal((await server.anonymous.get(`${path}unknown/`)).status, 404)
    const malformed = await server.anonymous.post(path, { query: { ...DESKTOP, shib_device_id: 'x' } })
    assert.deepEqual([malformed.status, malformed.body], [400, { error_msg: 'shib_device_id invalid.' }])
    const cross = { ...BROWSER, headers: { ...BROWSER.headers, 'Sec-Fetch-Site': 'cross-site' } }
    const lured = await fetch(await begun(), cross)
    assert.equal(lured.headers.get('location'), '../../app/', 'a link on another site confirms nothing')
    const rows = await server.running.services.db.all('select * from device_authorization')
    assert.ok(!JSON.stringify(rows.map((row) => Object.values(row).map(String))).includes(token))
  })
})

/**
 * Everything in `features` that an official client decides by (desktop 9.0, SeaDrive 3.0, Android 3.0, iOS 3.0), and the first call that it then
 * makes. What works is announced, and what does not is not.
 */
const GATES: Record<
  string,
  { readonly by: string; readonly works: (user: Client, library: string) => unknown }
> = {
  'seafile-basic': { by: 'all', works: (user) => user.get('/api2/repos/') },
  'seafile-pro': {
    by: 'desktop: locks, activities, folder permissions; phones: activities; SeaDrive: locks',
    works: async (user, library) => {
      await user.post(`/api/v2.1/repos/${library}/file/`, {
        query: { p: '/a.txt' },
        form: { operation: 'create' },
      })
      const lock = { query: { p: '/a.txt' }, form: { operation: 'lock' } }
      const replies = [
        await user.put(`/api/v2.1/repos/${library}/file/`, lock),
        await user.get('/api/v2.1/activities/'),
        await user.get(`/api2/repos/${library}/dir/shared_items/`, { p: '/', share_type: 'user' }),
        await user.post('/seafhttp/repo/folder-perm', { raw: '[]' }),
        await user.post('/seafhttp/repo/locked-files', { raw: '[]' }),
      ]
      return { status: Math.max(...replies.map(({ status }) => status)) }
    },
  },
  'file-search': {
    by: 'desktop, Android, iOS: search',
    works: (user) => user.get('/api2/search/', { q: 'notes' }),
  },
  'client-sso-via-local-browser': { by: 'all: single sign-on', works: (user) => user.post(path) },
  'device-authorization': {
    by: 'carrel',
    works: (user) => user.post(CODES, { form: { client_id: 'carrel' } }),
  },
  wiki: { by: 'Android, iOS: a page of wikis', works: (user) => user.get('/api/v2.1/wikis2/') },
  onlyoffice: { by: 'Android: opens documents in the web', works: (user) => user.get('/onlyoffice/') },
  'office-preview': { by: 'desktop', works: (user) => user.get('/office-convert/') },
  // Keeps desktop clients from syncing with existing folders: they may.
  'disable-sync-with-any-folder': { by: 'desktop', works: () => ({ status: 404 }) },
}

describe('/api2/server-info/', () => {
  it('announces each feature that a client decides by exactly when it works', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const library = await user.createLibrary('Notes')
    const { features } = (await server.anonymous.get('/api2/server-info/')).body
    const working: string[] = []
    for (const [feature, { works }] of Object.entries(GATES)) {
      const { status } = (await works(user, library)) as { status: number }
      if (status === 200) working.push(feature)
      else assert.equal(status, 404, feature)
    }
    assert.deepEqual(features, working)
  })
})
