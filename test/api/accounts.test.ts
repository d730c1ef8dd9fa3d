import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { type CallOptions, Client } from '../support/client.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'

const PASSWORD = 'a long password'
const time = 1_754_000_000

/** The same fields in each encoding a body may have. */
const encodings = (fields: Record<string, string | number | boolean>): CallOptions[] => [
  { form: fields },
  { multipart: fields },
  { json: fields },
]

/** Values that every text field rejects. */
const hostileTexts: unknown[] = ['a\0b', { a: 1 }, [{}], ['a', ['b']], '\ud800']

describe('/api2/account/info/', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ now: () => time, env: { CARREL_PUBLIC_URL: 'https://files.example.org/' } })
  })
  after(() => server[Symbol.asyncDispose]())

  it('returns the account, with limits only if they are set', async () => {
    const ann = await server.signUp({ email: 'ann@example.org' })
    const expected = {
      email: 'ann@example.org',
      name: 'ann',
      contact_email: 'ann@example.org',
      contact_email_verified: true,
      login_id: '',
      department: '',
      institution: '',
      usage: 0,
      total: -2,
      space_usage: '0%',
      avatar_url: 'https://files.example.org/media/avatars/default.png',
      is_staff: false,
      enable_subscription: false,
      file_updates_email_interval: 0,
      collaborate_email_interval: 60,
    }
    for (const path of ['/api2/account/info/', '/api2/account/info']) {
      const reply = await ann.get(path)
      assert.deepEqual([reply.status, reply.body], [200, expected])
    }
    const more = { quota: 1_000_000_000, name: 'Ann', loginId: 'a1', department: 'D', institution: 'I' }
    await server.running.services.accounts.update('ann@example.org', more, undefined)
    const changed = { name: 'Ann', login_id: 'a1', department: 'D', institution: 'I', total: 1_000_000_000 }
    assert.deepEqual((await ann.get('/api2/account/info/')).body, { ...expected, ...changed })
    assert.equal((await (await server.admin()).get('/api2/account/info/')).body.is_staff, true)
  })

  it('returns the used share of the quota without an exponent', async () => {
    const user = await server.signUp()
    const { accounts, core } = server.running.services
    const account = await accounts.update(user.email, { quota: 1_000_000_000 }, undefined)
    await user.createLibrary()
    const shares = [
      [83_260, '0.008326%'],
      [1, '0%'],
      [10, '0.000001%'],
      [1_000_000_000, '100%'],
      [1_500_000_000, '150%'],
    ] as const
    for (const [bytes, text] of shares) {
      await dbOf(core).write((tx) =>
        tx.run('update library set size = ? where owner_key = ?', bytes, account.key),
      )
      const { body } = await user.get('/api2/account/info/')
      assert.deepEqual([body.usage, body.total, body.space_usage], [bytes, 1_000_000_000, text])
    }
  })

  it('changes the name in any encoding and returns the account', async () => {
    const user = await server.signUp()
    for (const options of encodings({ name: 'Änne', file_updates_email_interval: 3600 })) {
      await server.running.services.accounts.update(user.email, { name: 'before' }, undefined)
      const reply = await user.put('/api2/account/info/', options)
      assert.deepEqual([reply.status, reply.body], [200, (await user.get('/api2/account/info/')).body])
      assert.equal(reply.body.name, 'Änne')
    }
    assert.equal((await user.put('/api2/account/info/')).body.name, 'Änne')
    assert.equal((await user.put('/api2/account/info/', { form: { name: '' } })).status, 200)
  })

  const refusals: [json: Record<string, unknown>, message: string][] = [
    [{ name: 'x'.repeat(65) }, 'Name is too long (maximum is 64 characters)'],
    [{ name: 'a/b' }, "Name should not include '/'."],
    [{ name: 'a\nb' }, 'name invalid'],
    ...hostileTexts.map((name): [Record<string, unknown>, string] => [{ name }, 'name invalid']),
    [{ file_updates_email_interval: 'often' }, 'file_updates_email_interval invalid'],
    [{ collaborate_email_interval: 1.5 }, 'collaborate_email_interval invalid'],
    [{ collaborate_email_interval: {} }, 'collaborate_email_interval invalid'],
  ]
  for (const [json, message] of refusals) {
    it(`rejects ${JSON.stringify(json).slice(0, 60)}`, async () => {
      const user = await server.signUp()
      const before = (await user.get('/api2/account/info/')).body
      const reply = await user.put('/api2/account/info/', { json })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
      assert.deepEqual((await user.get('/api2/account/info/')).body, before)
    })
  }

  it('serves the avatar it links to', async () => {
    const response = await fetch(`${server.url}/media/avatars/default.png`)
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'image/png'])
    const bytes = Buffer.from(await response.arrayBuffer())
    assert.equal(bytes.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n')
    assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [128, 128])
    assert.equal(bytes.subarray(-8, -4).toString('latin1'), 'IEND')
  })
})

describe('/api/v2.1/user/', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  it('returns and changes the profile', async () => {
    const user = await server.signUp({ email: 'prof@example.org' })
    const profile = {
      email: 'prof@example.org',
      name: '',
      contact_email: 'prof@example.org',
      contact_email_verified: true,
      telephone: '',
      login_id: '',
      list_in_address_book: false,
      language: '',
      mail_notices: 'at-once',
    }
    for (const path of ['/api/v2.1/user/', '/api/v2.1/user']) {
      const reply = await user.get(path)
      assert.deepEqual([reply.status, reply.body], [200, profile])
    }
    const fields = { name: 'Prof', contact_email: 'Prof@Example.net', list_in_address_book: true }
    const own = { contact_email: 'prof@example.net', contact_email_verified: false }
    const changed = { ...profile, ...fields, ...own }
    for (const options of encodings(fields)) {
      const reply = await user.put('/api/v2.1/user/', options)
      assert.deepEqual([reply.status, reply.body], [200, changed])
    }
    assert.deepEqual((await user.put('/api/v2.1/user/', { json: {} })).body, changed)
    const cleared = await user.put('/api/v2.1/user/', {
      form: { contact_email: '', list_in_address_book: '' },
    })
    assert.deepEqual(cleared.body, {
      ...changed,
      contact_email: 'prof@example.org',
      contact_email_verified: true,
    })
  })

  const refusals: [json: Record<string, unknown>, message: string][] = [
    [{ name: 'x'.repeat(65) }, 'Name is too long (maximum is 64 characters)'],
    [{ name: 'a/b' }, "Name should not include '/'."],
    ...hostileTexts.map((name): [Record<string, unknown>, string] => [{ name }, 'name invalid.']),
    [{ contact_email: 'nobody' }, 'contact_email invalid.'],
    [{ contact_email: 'a\0@b' }, 'contact_email invalid.'],
    [{ contact_email: ADMIN.email }, `Contact email ${ADMIN.email} already exists.`],
    [{ list_in_address_book: 'maybe' }, 'list_in_address_book invalid.'],
  ]
  for (const [json, message] of refusals) {
    it(`rejects ${JSON.stringify(json).slice(0, 60)}`, async () => {
      const user = await server.signUp()
      const reply = await user.put('/api/v2.1/user/', { json })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
    })
  }

  it('changes the password and revokes every token', async () => {
    for (const encode of [0, 1, 2]) {
      const user = await server.signUp()
      const fields = { old_password: PASSWORD, new_password: `a new one ${encode}` }
      const reply = await user.post('/api/v2.1/user/reset-password/', encodings(fields)[encode])
      assert.deepEqual([reply.status, reply.body], [200, { success: true }])
      assert.equal((await user.get('/api2/auth/ping/')).status, 401)
      await Client.signIn(server.url, user.email, `a new one ${encode}`)
    }
  })

  const passwords: [json: Record<string, unknown>, message: string][] = [
    [{}, 'Old password invalid'],
    [{ old_password: '', new_password: 'x' }, 'Old password invalid'],
    [{ old_password: {}, new_password: 'x' }, 'Old password invalid'],
    [{ old_password: PASSWORD }, 'New password invalid'],
    [{ old_password: PASSWORD, new_password: 'a\0' }, 'New password invalid'],
    [{ old_password: PASSWORD, new_password: 'x'.repeat(1025) }, 'New password invalid'],
    [{ old_password: PASSWORD, new_password: 'Tv9!mq2' }, 'Password must have at least 8 characters.'],
    [{ old_password: PASSWORD, new_password: 'P@ssw0rd1' }, 'Password is too common.'],
    [{ old_password: PASSWORD, new_password: PASSWORD }, 'New password cannot be the same as old password'],
    [{ old_password: 'wrong', new_password: 'x' }, 'Old password incorrect'],
  ]
  for (const [json, message] of passwords) {
    it(`rejects ${JSON.stringify(json).slice(0, 60)} with "${message}"`, async () => {
      const user = await server.signUp()
      const reply = await user.post('/api/v2.1/user/reset-password/', { json })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
      assert.equal((await user.get('/api2/auth/ping/')).status, 200)
    })
  }
})

describe('/api2/accounts/', () => {
  let server: TestServer
  let admin: Client
  before(async () => {
    server = await startServer({ now: () => time, env: { CARREL_DEFAULT_QUOTA_MB: '7' } })
    admin = await server.admin()
  })
  after(() => server[Symbol.asyncDispose]())

  const info = (email: string, more: object = {}) => ({
    email,
    name: email.split('@')[0],
    department: '',
    institution: '',
    is_staff: false,
    is_active: true,
    create_time: time * 1_000_000,
    login_id: '',
    list_in_address_book: false,
    total: 7_000_000,
    usage: 0,
    ...more,
  })

  it('creates accounts with 201 and updates them with 200, in any encoding', async () => {
    const all = {
      password: 'the first one',
      is_staff: 'true',
      is_active: 1,
      name: 'Full Name',
      login_id: 'full',
      department: 'D',
      institution: 'I',
      storage: 12,
      list_in_address_book: 'true',
    }
    const shown = {
      name: 'Full Name',
      department: 'D',
      institution: 'I',
      is_staff: true,
      login_id: 'full',
      list_in_address_book: true,
      total: 12_000_000,
    }
    for (const [index, options] of encodings(all).entries()) {
      const path = `/api2/accounts/Full${index}@Example.org/`
      const email = `full${index}@example.org`
      const created = await admin.put(path, options)
      const { id, ...rest } = created.body
      assert.equal(created.status, 201)
      assert.equal(created.headers.get('location'), `/api2/accounts/${email}/`)
      assert.ok(Number.isInteger(id))
      assert.deepEqual(rest, info(email, shown))
      await Client.signIn(server.url, email, 'the first one')
      const changed = await admin.put(path, {
        form: { is_staff: 'false', storage: 0, name: '', login_id: `x${index}` },
      })
      assert.equal(changed.status, 200)
      const { name: _name, total: _total, ...others } = { ...shown, is_staff: false, login_id: `x${index}` }
      assert.deepEqual(changed.body, { id, ...info(email, others) })
      const read = await admin.get(path.slice(0, -1))
      assert.deepEqual([read.status, read.body], [200, changed.body])
    }
    const plain = await admin.put('/api2/accounts/plain%40example.org/', {
      json: { password: 'a long password' },
    })
    assert.deepEqual({ ...plain.body, id: 0 }, { id: 0, ...info('plain@example.org') })
    const untouched = await admin.put('/api2/accounts/plain@example.org/', {
      json: { is_staff: '', password: '' },
    })
    assert.deepEqual(untouched.body, plain.body)
  })

  it('keeps fields that are not sent, and revokes tokens on deactivation', async () => {
    const user = await server.signUp()
    await user.createLibrary()
    const off = await admin.put(`/api2/accounts/${user.email}/`, { form: { is_active: 'false' } })
    assert.deepEqual([off.status, off.body.is_active, off.body.is_staff], [200, false, false])
    const refused = await user.get('/api2/auth/ping/')
    assert.deepEqual([refused.status, refused.body], [401, { detail: 'Invalid token' }])
  })

  const refusals: [json: Record<string, unknown>, body: unknown][] = [
    [{}, { error_msg: { password: ['This field is required.'] } }],
    [{ password: '' }, { error_msg: { password: ['This field may not be blank.'] } }],
    ...(
      [
        [{ name: 'x'.repeat(65) }, 'Name is too long (maximum is 64 characters)'],
        [{ name: 'a/b' }, "Name should not include '/'."],
        ...hostileTexts.map((name) => [{ name }, 'name invalid.']),
        ...hostileTexts.map((login_id) => [{ login_id }, 'login_id invalid.']),
        [{ login_id: ' ' }, "Login id can't be empty"],
        [{ login_id: '' }, "Login id can't be empty"],
        [{ login_id: 'taken' }, 'Login id taken already exists.'],
        [{ department: 'x'.repeat(513) }, 'Department is too long (maximum is 512 characters)'],
        [{ institution: 'x'.repeat(256) }, 'institution invalid.'],
        [{ storage: 'much' }, 'Must be an integer that is greater than or equal to 0.'],
        [{ storage: 1.5 }, 'Must be an integer that is greater than or equal to 0.'],
        [{ storage: {} }, 'Must be an integer that is greater than or equal to 0.'],
        [{ storage: '9999999999999999' }, 'Must be an integer that is greater than or equal to 0.'],
        [{ storage: '' }, "Space quota can't be empty"],
        [{ storage: -1 }, 'Space quota is too low (minimum value is 0)'],
        [{ is_staff: 'yes' }, 'is_staff invalid.'],
        [{ is_active: 'no' }, 'is_active invalid.'],
        [{ is_active: '' }, 'is_active invalid.'],
        [{ password: 'x'.repeat(1025) }, 'password invalid.'],
        [{ password: '123' }, 'Password must have at least 8 characters.'],
      ] as [Record<string, unknown>, string][]
    ).map(([json, message]): [Record<string, unknown>, unknown] => [
      { password: 'a long password', ...json },
      { error_msg: message },
    ]),
  ]
  for (const [json, body] of refusals) {
    it(`rejects creating an account with ${JSON.stringify(json).slice(0, 70)}`, async () => {
      const { accounts } = server.running.services
      if (!(await accounts.find('taken@example.org'))) {
        await accounts.create(
          { email: 'taken@example.org', password: 'a long password', loginId: 'taken' },
          undefined,
        )
      }
      const reply = await admin.put('/api2/accounts/never@example.org/', { json })
      assert.deepEqual([reply.status, reply.body], [400, body])
      assert.equal(await accounts.find('never@example.org'), undefined)
    })
  }

  it('distinguishes an invalid e-mail address from an unknown account', async () => {
    for (const email of ['nobody', 'a%20b@c', 'a%2Fb@c', 'a@b@c', '..', '%00@b', `${'x'.repeat(300)}@b`]) {
      const reply = await admin.get(`/api2/accounts/${email}/`)
      if (reply.status === 404) continue // "..", which the client takes for another path
      assert.equal(reply.status, 400, email)
      assert.deepEqual(reply.body, { error_msg: `Email ${decodeURIComponent(email)} invalid.` })
      const made = await admin.put(`/api2/accounts/${email}/`, { form: { password: 'a long password' } })
      assert.equal(made.status, 400, email)
    }
    const missing = await admin.get('/api2/accounts/nobody@example.org/')
    assert.deepEqual(
      [missing.status, missing.body],
      [404, { error_msg: 'User nobody@example.org not found.' }],
    )
  })

  it('deletes an account with 200, and answers 202 for an unknown one', async () => {
    const user = await server.signUp()
    for (const status of [200, 202]) {
      const reply = await admin.delete(`/api2/accounts/${user.email}/`)
      assert.deepEqual([reply.status, reply.body], [status, { success: true }])
    }
    const refused = await user.get('/api2/auth/ping/')
    assert.deepEqual([refused.status, refused.body], [401, { detail: 'User inactive or deleted' }])
  })

  it('lists ids in pages', async () => {
    const { accounts } = await server.running.services.accounts.list({ limit: 1000 })
    const all = accounts.map(({ email }) => ({ email, source: 'DB' }))
    for (const query of [{}, { scope: 'DB' }, { start: 'x', limit: '-1' }, { scope: 'db', limit: 1000 }]) {
      const reply = await admin.get('/api2/accounts/', query)
      assert.deepEqual([reply.status, reply.body], [200, all])
    }
    assert.deepEqual((await admin.get('/api2/accounts', { start: 1, limit: 2 })).body, all.slice(1, 3))
    assert.deepEqual((await admin.get('/api2/accounts/', { scope: 'LDAP' })).body, [])
    assert.deepEqual((await admin.get('/api2/accounts/', { scope: 'LDAPImport' })).body, [])
    const reply = await admin.get('/api2/accounts/', { scope: 'Cloud' })
    assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'Cloud is not a valid scope value' }])
  })

  it('transfers all libraries to another account', async () => {
    const [from, to] = [await server.signUp(), await server.signUp()]
    const ids = [await from.createLibrary('A'), await from.createLibrary('B')]
    const own = await to.createLibrary('C')
    for (const options of encodings({ op: 'migrate', to_user: to.email })) {
      const reply = await admin.post(`/api2/accounts/${from.email}/`, options)
      assert.deepEqual([reply.status, reply.body], [200, { success: true }])
    }
    const listed = async (user: Client) => {
      const { body } = await user.get('/api2/repos/')
      return (body as { id: string }[]).map(({ id }) => id).sort()
    }
    assert.deepEqual(await listed(from), [])
    assert.deepEqual(await listed(to), [...ids, own].sort())
  })

  it('rejects a transfer that is not possible', async () => {
    const user = await server.signUp()
    const guest = await server.signUp({ role: 'guest' })
    const cases: [email: string, form: Record<string, string>, status: number, message: string][] = [
      [user.email, {}, 400, 'op can only be migrate.'],
      [user.email, { op: 'dance' }, 400, 'op can only be migrate.'],
      [user.email, { op: 'migrate' }, 400, 'to_user invalid.'],
      [user.email, { op: 'migrate', to_user: user.email }, 400, 'to_user invalid.'],
      [user.email, { op: 'migrate', to_user: 'no@x.org' }, 404, 'User no@x.org not found.'],
      ['no@x.org', { op: 'migrate', to_user: user.email }, 404, 'User no@x.org not found.'],
      ['no', { op: 'migrate', to_user: user.email }, 400, 'Email no invalid.'],
      [
        user.email,
        { op: 'migrate', to_user: guest.email },
        403,
        `Transfer failed: role of ${guest.email} is guest, can not add library.`,
      ],
    ]
    for (const [email, form, status, message] of cases) {
      const reply = await admin.post(`/api2/accounts/${email}/`, { form })
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: message }])
    }
  })

  it('keeps the last administrator from being removed', async () => {
    await using other = await startServer()
    const root = await other.admin()
    const calls: [method: string, form: Record<string, string>][] = [
      ['DELETE', {}],
      ['PUT', { is_staff: 'false' }],
      ['PUT', { is_active: 'false' }],
    ]
    const body = { error_msg: 'The last administrator can not be removed.' }
    for (const [method, form] of calls) {
      for (const path of [`/api2/accounts/${ADMIN.email}/`, `/api/v2.1/admin/users/${ADMIN.email}/`]) {
        const reply = await root.call(method, path, { form })
        assert.deepEqual([reply.status, reply.body], [400, body])
      }
    }
    assert.equal((await root.get('/api2/account/info/')).body.is_staff, true)
  })

  it('is for administrators only', async () => {
    const user = await server.signUp()
    const calls: [method: string, path: string][] = [
      ['GET', '/api2/accounts/'],
      ['GET', `/api2/accounts/${user.email}/`],
      ['PUT', `/api2/accounts/${user.email}/`],
      ['POST', `/api2/accounts/${user.email}/`],
      ['DELETE', `/api2/accounts/${user.email}/`],
    ]
    for (const [method, path] of calls) {
      const refused = await user.call(method, path)
      const body = { detail: 'You do not have permission to perform this action.' }
      assert.deepEqual([refused.status, refused.body], [403, body])
      assert.equal((await server.anonymous.call(method, path)).status, 403)
      assert.equal((await new Client(server.url, 'f'.repeat(40)).call(method, path)).status, 401)
    }
  })
})
