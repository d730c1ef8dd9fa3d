import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PASSWORD = 'a long password'

describe('A contact address', () => {
  let server: TestServer
  let admin: Client
  before(async () => {
    server = await startServer()
    admin = await server.admin()
  })
  after(() => server[Symbol.asyncDispose]())

  const setOwn = (user: Client, contact_email: string) =>
    user.put('/api/v2.1/user/', { form: { contact_email } })
  const setBy = (user: Client, contact_email: string) =>
    admin.put(`/api/v2.1/admin/users/${user.email}/`, { form: { contact_email } })
  const signIn = async (username: string) =>
    (await server.anonymous.post('/api2/auth-token/', { form: { username, password: PASSWORD } })).status

  it('set by its holder authenticates nobody until an administrator confirms it', async () => {
    const user = await server.signUp()
    const address = 'office@example.net'
    const reply = await setOwn(user, address)
    assert.partialDeepStrictEqual(reply.body, { contact_email: address, contact_email_verified: false })
    assert.equal(await signIn(address), 400)
    const confirmed = await setBy(user, address)
    assert.partialDeepStrictEqual(confirmed.body, { contact_email: address, contact_email_verified: true })
    assert.equal(await signIn(address), 200)
    assert.equal((await setOwn(user, address)).body.contact_email_verified, true)
    assert.equal(await signIn(address), 200)
    assert.equal((await setOwn(user, 'other@example.net')).body.contact_email_verified, false)
    assert.equal(await signIn('other@example.net'), 400)
    assert.equal(await signIn(address), 400)
  })

  it('that is unconfirmed does not reserve it for its holder', async () => {
    const squatter = await server.signUp()
    const owner = await server.signUp()
    const address = 'wanted@example.net'
    assert.equal((await setOwn(squatter, address)).status, 200)
    assert.equal((await setOwn(owner, address)).status, 200)
    assert.equal((await setBy(owner, address)).status, 200)
    assert.equal(await signIn(address), 200)
    const refused = await setBy(squatter, address)
    const taken = { error_msg: `Contact email ${address} already exists.` }
    assert.deepEqual([refused.status, refused.body], [400, taken])
    const created = await admin.post('/api/v2.1/admin/users/', {
      form: { email: 'new@example.org', password: PASSWORD, contact_email: 'new@example.net' },
    })
    assert.equal(created.body.contact_email_verified, true)
    assert.equal(await signIn('new@example.net'), 200)
  })

  it('is shown as verified if none was set, as the account id can sign in', async () => {
    const user = await server.signUp()
    assert.equal((await user.get('/api/v2.1/user/')).body.contact_email_verified, true)
    assert.equal((await user.get('/api2/account/info/')).body.contact_email_verified, true)
  })

  it('is confirmed by an operator on the command line', async () => {
    const user = await server.signUp()
    const address = 'typed@example.net'
    await setOwn(user, address)
    const database = server.databaseUrl === undefined ? [] : ['--database', server.databaseUrl]
    const args = ['user', 'verify-contact', user.email, address, '--data', server.data, ...database]
    const outcome = await carrel(args)
    assert.deepEqual(outcome, {
      code: 0,
      stdout: `${user.email} can sign in with ${address}.\n`,
      stderr: '',
    })
    assert.equal(await signIn(address), 200)
  })
})
