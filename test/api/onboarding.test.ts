import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PATH = '/api/v2.1/onboarding/'

describe('/api/v2.1/onboarding/', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  it('remembers for the account what was dismissed, and shows it again on request', async () => {
    const ann = await server.signUp()
    assert.deepEqual((await ann.get(PATH)).body, { dismissed: [], password_assigned: false })
    const first = await ann.put(PATH, { form: { item: 'welcome' } })
    assert.deepEqual([first.status, first.body.dismissed], [200, ['welcome']])
    await ann.put(PATH, { form: { item: 'setup-backup', dismissed: 'true' } })
    await ann.put(PATH, { form: { item: 'welcome', dismissed: 'true' } })
    assert.deepEqual((await ann.get(PATH)).body.dismissed, ['welcome', 'setup-backup'])
    await ann.put(PATH, { form: { item: 'welcome', dismissed: 'false' } })
    assert.deepEqual((await ann.get(PATH)).body.dismissed, ['setup-backup'])
    const other = await server.signUp()
    assert.deepEqual((await other.get(PATH)).body.dismissed, [])
  })

  it('keeps what two devices dismiss at the same time', async () => {
    const ann = await server.signUp()
    const items = ['welcome', 'setup', 'setup-address', 'setup-users']
    await Promise.all(items.map((item) => ann.put(PATH, { form: { item } })))
    assert.deepEqual((await ann.get(PATH)).body.dismissed, items)
  })

  it('rejects items that do not exist', async () => {
    const ann = await server.signUp()
    for (const form of [{}, { item: 'all' }, { item: 'welcome,setup' }]) {
      assert.equal((await ann.put(PATH, { form })).status, 400)
    }
    assert.equal((await ann.put(PATH, { form: { item: 'welcome', dismissed: 'perhaps' } })).status, 400)
    assert.deepEqual((await ann.get(PATH)).body.dismissed, [])
  })

  it('says whether somebody else chose the password', async () => {
    const admin = await server.admin()
    const account = { email: 'ann@example.org', password: 'a long password' }
    assert.equal((await admin.post('/api/v2.1/admin/users/', { form: account })).status, 200)
    const isAssigned = async (client: Client) => (await client.get(PATH)).body.password_assigned
    const again = (password: string) => Client.signIn(server.url, account.email, password)
    const ann = await again(account.password)
    assert.equal(await isAssigned(ann), true)
    const form = { old_password: 'a long password', new_password: 'a longer password' }
    assert.equal((await ann.post('/api/v2.1/user/reset-password/', { form })).status, 200)
    assert.equal(await isAssigned(await again('a longer password')), false)
    const reset = await admin.put(`/api/v2.1/admin/users/${account.email}/reset-password/`)
    assert.equal(await isAssigned(await again(reset.body.new_password)), true)
  })

  it('shows administrators the first steps with the address of the request', async () => {
    const { body } = await (await server.admin()).get('/api/v2.1/admin/setup/')
    assert.deepEqual([body.public_url, body.base_url], [null, server.url])
    assert.deepEqual(body.backup, {
      scheduled: false,
      interval_hours: null,
      last_backup: null,
      failure: null,
    })
    // The tests configure the password of the first administrator.
    assert.equal(body.password_assigned, false)
    const { status } = await (await server.signUp()).get('/api/v2.1/admin/setup/')
    assert.equal(status, 403)
  })
})

describe('/api/v2.1/admin/setup/', () => {
  it('returns the configured address and schedule, and counts accounts', async () => {
    await using server = await startServer({
      env: { CARREL_PUBLIC_URL: 'https://files.example.org', CARREL_BACKUP_TARGET: '/nowhere/backup' },
    })
    const admin = await server.admin()
    const { body } = await admin.get('/api/v2.1/admin/setup/')
    assert.deepEqual(body, {
      public_url: 'https://files.example.org',
      base_url: 'https://files.example.org',
      backup: { scheduled: true, interval_hours: 24, last_backup: null, failure: null },
      mail: {
        configured: false,
        waiting: 0,
        oldest_waiting: null,
        sent_24h: 0,
        failed_24h: 0,
        last_error: null,
      },
      accounts: body.accounts,
      password_assigned: false,
    })
    await server.signUp()
    assert.equal((await admin.get('/api/v2.1/admin/setup/')).body.accounts, body.accounts + 1)
  })
})
