import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { type CallOptions, Client } from '../support/client.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'

const time = 1_754_000_000
const created = '2025-07-31T22:13:20+00:00'

/** The same fields in each encoding a body may have. */
const encodings = (fields: Record<string, string | number | boolean>): CallOptions[] => [
  { form: fields },
  { multipart: fields },
  { json: fields },
]

const hostileTexts: unknown[] = ['a\0b', { a: 1 }, [{}], '\ud800', 'a\nb']

describe('/api/v2.1/admin/users/', () => {
  let server: TestServer
  let admin: Client
  before(async () => {
    server = await startServer({ now: () => time, env: { CARREL_PUBLIC_URL: 'https://files.example.org' } })
    admin = await server.admin()
  })
  after(() => server[Symbol.asyncDispose]())

  const user = (email: string, more: object = {}) => ({
    email,
    name: email.split('@')[0],
    contact_email: email,
    contact_email_verified: true,
    login_id: '',
    is_staff: false,
    is_active: true,
    quota_usage: 0,
    quota_total: -2,
    create_time: created,
    last_login: '',
    last_access_time: '',
    role: 'default',
    avatar_url: 'https://files.example.org/media/avatars/default.png',
    has_default_device: false,
    has_second_factor: false,
    is_force_2fa: false,
    social_auth: [],
    ...more,
  })

  it('creates accounts in any encoding', async () => {
    const fields = {
      password: 'a long password',
      is_staff: 'false',
      is_active: 'true',
      role: 'guest',
      name: 'N',
      quota_total: 3,
    }
    for (const [index, options] of encodings({
      ...fields,
      email: 'New@Example.org',
      login_id: 'n',
    }).entries()) {
      const path = index === 0 ? '/api/v2.1/admin/users' : '/api/v2.1/admin/users/'
      const reply = await admin.post(path, options)
      const { add_user_tip: tip, ...rest } = reply.body
      assert.equal(reply.status, 200, reply.text)
      assert.equal(typeof tip, 'string')
      const shown = { name: 'N', role: 'guest', quota_total: 3_000_000, login_id: 'n' }
      assert.deepEqual(rest, user('new@example.org', shown))
      const read = await admin.get('/api/v2.1/admin/users/NEW@example.org/')
      assert.deepEqual([read.status, read.body], [200, rest])
      await Client.signIn(server.url, 'new@example.org', 'a long password')
      const signedIn = { ...rest, last_login: created, last_access_time: created }
      assert.deepEqual((await admin.get('/api/v2.1/admin/users/new@example.org')).body, signedIn)
      const removed = await admin.delete('/api/v2.1/admin/users/new@example.org/')
      assert.deepEqual([removed.status, removed.body], [200, { success: true }])
    }
    const plain = {
      email: 'plain@example.org',
      password: 'a long password',
      login_id: '',
      quota_total: '',
      role: '',
      is_staff: '',
    }
    const { add_user_tip: _, ...rest } = (await admin.post('/api/v2.1/admin/users/', { form: plain })).body
    assert.deepEqual(rest, user('plain@example.org'))
    const staff = { email: 'staff@example.org', password: 'a long password', is_staff: true }
    const made = (await admin.post('/api/v2.1/admin/users/', { json: staff })).body
    assert.deepEqual([made.is_staff, made.role], [true, 'default'])
  })

  const refusals: [json: Record<string, unknown>, message: string][] = [
    [{ email: '' }, 'email invalid.'],
    [{ email: 'nobody' }, 'email invalid.'],
    [{ email: 'a/b@c' }, 'email invalid.'],
    ...hostileTexts.map((email): [Record<string, unknown>, string] => [{ email }, 'email invalid.']),
    [{ password: '' }, 'password required.'],
    [{ password: null }, 'password required.'],
    [{ password: 'x'.repeat(1025) }, 'password invalid.'],
    [{ password: '123' }, 'Password must have at least 8 characters.'],
    [{ email: ADMIN.email }, `User ${ADMIN.email} already exists.`],
    [{ is_staff: 'maybe' }, 'is_staff invalid.'],
    [{ is_active: 'maybe' }, 'is_active invalid.'],
    [{ is_active: '' }, 'is_active invalid.'],
    [{ role: 'admin' }, 'role invalid.'],
    [{ role: 'emperor' }, 'role invalid.'],
    [{ role: 'guest', is_staff: 'true' }, 'role invalid.'],
    [{ name: 'x'.repeat(65) }, 'Name is too long (maximum is 64 characters).'],
    [{ name: 'a/b' }, "Name should not include '/'."],
    ...hostileTexts.map((name): [Record<string, unknown>, string] => [{ name }, 'name invalid.']),
    [{ quota_total: 'much' }, 'Must be an integer that is greater than or equal to 0.'],
    [{ quota_total: [1, {}] }, 'Must be an integer that is greater than or equal to 0.'],
    [{ quota_total: '9999999999999999' }, 'Must be an integer that is greater than or equal to 0.'],
    [{ quota_total: -1 }, 'Space quota is too low (minimum value is 0).'],
    [{ login_id: 'taken' }, 'Login id taken already exists.'],
    [{ contact_email: 'nobody' }, 'contact_email invalid.'],
    [{ contact_email: ADMIN.email }, `Contact email ${ADMIN.email} already exists.`],
  ]
  for (const [json, message] of refusals) {
    it(`rejects creating an account with ${JSON.stringify(json).slice(0, 70)}`, async () => {
      await ensureTaken(server)
      const before = await server.running.services.accounts.count()
      const wanted = { email: 'never@example.org', password: 'a long password', ...json }
      const reply = await admin.post('/api/v2.1/admin/users/', { json: wanted })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
      assert.equal(await server.running.services.accounts.count(), before)
    })

    if ('email' in json || message === 'password required.') continue
    it(`rejects changing an account to ${JSON.stringify(json).slice(0, 70)}`, async () => {
      await ensureTaken(server)
      const someone = await server.signUp()
      const path = `/api/v2.1/admin/users/${someone.email}/`
      const before = (await admin.get(path)).body
      const reply = await admin.put(path, { json })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
      assert.deepEqual((await admin.get(path)).body, before)
    })
  }

  it('changes the fields that are sent and no others', async () => {
    const someone = await server.signUp()
    const path = `/api/v2.1/admin/users/${someone.email}/`
    let expected: Record<string, unknown> = user(someone.email, { last_access_time: created })
    const steps: [fields: Record<string, string | number | boolean>, shown: object][] = [
      [{}, {}],
      [{ name: 'Some One' }, { name: 'Some One' }],
      [{ is_staff: 'true' }, { is_staff: true }],
      [{ role: 'default' }, {}],
      [
        { is_staff: 'false', role: 'guest' },
        { is_staff: false, role: 'guest' },
      ],
      [{ is_staff: 'false' }, {}],
      [{ role: 'default' }, { role: 'default' }],
      [{ quota_total: 5 }, { quota_total: 5_000_000 }],
      [{ quota_total: '' }, {}],
      [{ quota_total: 0 }, { quota_total: -2 }],
      [{ login_id: 'some' }, { login_id: 'some' }],
      [{ login_id: '' }, { login_id: '' }],
      [{ contact_email: 'some@example.net' }, { contact_email: 'some@example.net' }],
      [{ contact_email: '' }, { contact_email: someone.email }],
      [{ institution: 'I', department: 'D' }, {}],
      [{ is_staff: '' }, {}],
      [{ is_active: false }, { is_active: false, last_access_time: '' }],
    ]
    for (const [fields, shown] of steps) {
      expected = { ...expected, ...shown }
      for (const options of encodings(fields)) {
        const { update_status_tip: tip, ...rest } = (await admin.put(path, options)).body
        assert.equal(typeof tip, 'string')
        assert.deepEqual(rest, expected, JSON.stringify(fields))
      }
    }
  })

  it('sets or generates a password, and ends the sessions', async () => {
    const someone = await server.signUp()
    const path = `/api/v2.1/admin/users/${someone.email}/`
    // Of the rules for passwords, the length is the one for what administrators assign.
    assert.equal((await admin.put(path, { form: { password: '12345678' } })).status, 200)
    assert.equal((await admin.put(path, { form: { password: 'chosen for them' } })).status, 200)
    assert.equal((await someone.get('/api2/auth/ping/')).status, 401)
    const again = await Client.signIn(server.url, someone.email, 'chosen for them')
    const reply = await admin.put(`${path}reset-password/`)
    assert.equal(reply.status, 200)
    assert.deepEqual(Object.keys(reply.body).sort(), ['new_password', 'reset_tip'])
    assert.equal((await again.get('/api2/auth/ping/')).status, 401)
    await Client.signIn(server.url, someone.email, reply.body.new_password)
  })

  it('moves the libraries of a removed account to the trash and revokes its tokens', async () => {
    const someone = await server.signUp()
    const library = await someone.createLibrary()
    await admin.delete(`/api/v2.1/admin/users/${someone.email}/`)
    const refused = await someone.get('/api2/auth/ping/')
    assert.deepEqual([refused.status, refused.body], [401, { detail: 'User inactive or deleted' }])
    assert.equal((await admin.get(`/api2/repos/${library}/`)).status, 404)
  })

  it('returns 404 for an unknown account', async () => {
    const calls: [method: string, path: string][] = [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['PUT', 'reset-password/'],
    ]
    for (const email of ['nobody@example.org', 'nobody', '%00', '__proto__', 'a%2Fb']) {
      for (const [method, rest] of calls) {
        const reply = await admin.call(method, `/api/v2.1/admin/users/${email}/${rest}`)
        const body = { error_msg: `User ${decodeURIComponent(email)} not found.` }
        assert.deepEqual([reply.status, reply.body], [404, body])
      }
    }
  })

  it('finds accounts by part of a name, active or not', async () => {
    const { accounts } = server.running.services
    await accounts.create(
      {
        email: 'quirin@example.org',
        password: 'a long password',
        name: 'Zaphod',
        active: false,
      },
      undefined,
    )
    for (const query of ['quirin', 'ZAPH', 'quirin@example.org']) {
      const reply = await admin.get('/api/v2.1/admin/search-user/', { query })
      const found = user('quirin@example.org', { name: 'Zaphod', is_active: false })
      const body = { user_list: [found], page_info: { has_next_page: '', current_page: '' } }
      assert.deepEqual([reply.status, reply.body], [200, body])
    }
    assert.deepEqual((await admin.get('/api/v2.1/admin/search-user', { query: '%' })).body.user_list, [])
    for (const query of [undefined, '', 'a\0b']) {
      const reply = await admin.get('/api/v2.1/admin/search-user/', { query })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'query invalid.' }])
    }
  })

  it('returns the API token of an account', async () => {
    const someone = await server.signUp()
    for (const options of encodings({ email: someone.email })) {
      const reply = await admin.post('/api/v2.1/admin/generate-user-auth-token/', options)
      assert.deepEqual([reply.status, reply.body], [200, { token: someone.token }])
    }
    await server.running.services.accounts.update(someone.email, { active: false }, undefined)
    const cases: [json: object, status: number, message: string][] = [
      [{}, 400, 'email invalid.'],
      [{ email: 'nobody' }, 400, 'email invalid.'],
      [{ email: { a: 1 } }, 400, 'email invalid.'],
      [{ email: 'nobody@example.org' }, 404, 'User nobody@example.org not found.'],
      [{ email: someone.email }, 400, `User ${someone.email} is not active.`],
    ]
    for (const [json, status, message] of cases) {
      const reply = await admin.post('/api/v2.1/admin/generate-user-auth-token/', { json })
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: message }])
    }
  })

  it('is for administrators only', async () => {
    const someone = await server.signUp()
    const calls: [method: string, path: string][] = [
      ['GET', '/api/v2.1/admin/users/'],
      ['POST', '/api/v2.1/admin/users/'],
      ['GET', `/api/v2.1/admin/users/${someone.email}/`],
      ['PUT', `/api/v2.1/admin/users/${someone.email}/`],
      ['DELETE', `/api/v2.1/admin/users/${someone.email}/`],
      ['PUT', `/api/v2.1/admin/users/${someone.email}/reset-password/`],
      ['GET', '/api/v2.1/admin/search-user/'],
      ['POST', '/api/v2.1/admin/generate-user-auth-token/'],
    ]
    for (const [method, path] of calls) {
      const refused = await someone.call(method, path)
      const body = { detail: 'You do not have permission to perform this action.' }
      assert.deepEqual([refused.status, refused.body], [403, body])
      assert.equal((await server.anonymous.call(method, path)).status, 403)
      assert.equal((await new Client(server.url, 'f'.repeat(40)).call(method, path)).status, 401)
    }
  })
})

describe('GET /api/v2.1/admin/users/', () => {
  let server: TestServer
  let admin: Client
  before(async () => {
    server = await startServer({ now: () => time })
    admin = await server.admin()
    const { accounts, core } = server.running.services
    const make = (name: string, more: object) =>
      accounts.create({ email: `${name}@example.org`, password: 'a long password', ...more }, undefined)
    const ann = await make('ann', { quota: 5_000_000, name: 'Zoe' })
    await make('bob', { role: 'guest', quota: 9_000_000 })
    await make('cat', { active: false })
    await server.running.services.apiTokens
      .issue(ann, undefined)
      .then((token) => new Client(server.url, token).createLibrary())
    await dbOf(core).write((tx) => tx.run('update library set size = 1234'))
  })
  after(() => server[Symbol.asyncDispose]())

  const list = async (query: Record<string, string | number>) => {
    const reply = await admin.get('/api/v2.1/admin/users/', query)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(Object.keys(reply.body), ['data', 'total_count'])
    const names = (reply.body.data as { email: string }[]).map(({ email }) => email.split('@')[0])
    return [names.join(' '), reply.body.total_count]
  }

  const pages: [query: Record<string, string | number>, names: string, total: number][] = [
    [{}, 'admin ann bob cat', 4],
    [{ source: 'DB', order_by: '', is_active: '', role: '' }, 'admin ann bob cat', 4],
    [{ page: 2, per_page: 3 }, 'cat', 4],
    [{ page: 9 }, '', 4],
    [{ page: 'x', per_page: -5 }, 'admin ann bob cat', 4],
    [{ page: 1_000_000, per_page: 1000 }, '', 4],
    [{ order_by: 'quota_usage' }, 'ann admin bob cat', 4],
    [{ order_by: 'quota_usage', direction: 'asc' }, 'admin bob cat ann', 4],
    [{ order_by: 'email', direction: 'desc', per_page: 2 }, 'cat bob', 4],
    [{ order_by: 'name', direction: 'desc', per_page: 1 }, 'ann', 4],
    [{ order_by: 'quota_total', per_page: 2 }, 'bob ann', 4],
    [{ order_by: 'last_login', per_page: 1 }, 'admin', 4],
    [{ order_by: 'create_time', direction: 'asc', per_page: 1 }, 'admin', 4],
    [{ is_active: 'true' }, 'admin ann bob', 3],
    [{ is_active: '0' }, 'cat', 1],
    [{ role: 'guest' }, 'bob', 1],
    [{ role: 'default' }, 'admin ann cat', 3],
    [{ role: 'default', is_active: 'true', per_page: 1, page: 2 }, 'ann', 2],
    [{ source: 'LDAPImport' }, '', 0],
  ]
  for (const [query, names, total] of pages) {
    it(`returns "${names}" for ${JSON.stringify(query)}`, async () => {
      assert.deepEqual(await list(query), [names, total])
    })
  }

  it('returns the usage of each account', async () => {
    const { data } = (await admin.get('/api/v2.1/admin/users')).body
    const usage = (data as { quota_usage: number }[]).map(({ quota_usage }) => quota_usage)
    assert.deepEqual(usage, [0, 1234, 0, 0])
  })

  const refusals: [query: Record<string, string>, message: string][] = [
    [{ source: 'Cloud' }, 'source Cloud invalid.'],
    [{ order_by: 'shoe_size' }, 'order_by invalid.'],
    [{ order_by: '__proto__' }, 'order_by invalid.'],
    [{ direction: 'up' }, 'direction invalid.'],
    [{ is_active: 'maybe' }, 'is_active invalid.'],
    [{ role: 'admin' }, 'role invalid.'],
  ]
  for (const [query, message] of refusals) {
    it(`rejects ${JSON.stringify(query)}`, async () => {
      const reply = await admin.get('/api/v2.1/admin/users/', query)
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
    })
  }
})

async function ensureTaken(server: TestServer): Promise<void> {
  const { accounts } = server.running.services
  if (await accounts.find('taken@example.org')) return
  await accounts.create(
    { email: 'taken@example.org', password: 'a long password', loginId: 'taken' },
    undefined,
  )
}
