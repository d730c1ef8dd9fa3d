import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import {
  cheapCost,
  laptop,
  onEachDatabase,
  openOnSqlite,
  secret,
  type TestIdentity,
} from '../../../test/support/identity.ts'
import { libraryRelations } from '../../programs/assembly/dependents.ts'
import { PasswordChecks } from '../passwords/password-checks.ts'
import { Passwords } from '../passwords/passwords.ts'
import type { Login } from './login.ts'
import { ScopedTokens } from './scoped-tokens.ts'
import { WebdavClients } from './webdav-clients.ts'
import { WebdavSecrets } from './webdav-secrets.ts'
import { WebdavSignIn } from './webdav-sign-in.ts'

const address = '192.0.2.7'
const annsOwn = { username: 'ann@example.org', password: 'secret of ann', address }
const wrong = { ...annsOwn, password: 'a guess' }
/** The name of the attempt is for the audit log. */
const badFor = (actor: string, reason: string) => ({ refused: 'bad-credentials', actor, reason })
/** Nobody is notified of the new credentials. */
const onAdded = async () => {}
const bad = badFor('ann@example.org', 'wrong-password')

async function tokenOf(identity: TestIdentity, request: Parameters<Login['login']>[0]): Promise<string> {
  const outcome = await identity.login.login(request)
  return 'token' in outcome ? outcome.token : assert.fail(outcome.refused)
}

/** Records the hashes that passwords were compared with, instead of comparing them. */
class WatchedPasswords extends Passwords {
  readonly compared: (string | undefined)[] = []
  override async verify(...args: Parameters<Passwords['verify']>): Promise<boolean> {
    this.compared.push(args[1])
    return super.verify(...args)
  }
}

await onEachDatabase('Login', (open) => {
  it('returns the token of the account, the same each time, for any of its names', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann', {
      loginId: 'reader',
      contactEmail: 'office@example.com',
      contactVerified: true,
    })
    const token = await tokenOf(identity, annsOwn)
    const found = await identity.apiTokens.authenticate(token)
    const { apiTokenKey, ...opened } = 'ok' in found ? found.ok : assert.fail()
    assert.deepEqual(opened, { ...ann, lastLoginAt: identity.time })
    assert.equal(typeof apiTokenKey, 'number')
    for (const username of ['Ann@Example.org', 'reader', 'office@example.com']) {
      assert.equal(await tokenOf(identity, { ...annsOwn, username }), token)
    }
  })

  it('finds a login id however its accents are encoded, also one that was stored decomposed', async () => {
    await using identity = await open()
    await identity.signUp('ann', { loginId: 'zoe\u0301' })
    const token = await tokenOf(identity, annsOwn)
    for (const username of ['zoe\u0301', 'zo\u00e9'])
      assert.equal(await tokenOf(identity, { ...annsOwn, username }), token)
    await identity.db.write((tx) => tx.run('update account set login_id = ?', 'zoe\u0301'))
    assert.equal(await tokenOf(identity, { ...annsOwn, username: 'zoe\u0301' }), token)
  })

  it('issues a separate token per device and stores the device', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const token = await tokenOf(identity, { ...annsOwn, ...laptop })
    assert.notEqual(token, await tokenOf(identity, annsOwn))
    assert.equal(await tokenOf(identity, { ...annsOwn, ...laptop }), token)
    const times = { createdAt: identity.time, lastUsedAt: identity.time }
    const devices = await identity.apiTokens.listDevices(ann)
    assert.deepEqual(devices, [{ ...laptop, loginAddress: address, wipedAt: null, ...times }])
  })

  it('issues a new token after the password was changed', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    const token = await tokenOf(identity, annsOwn)
    await identity.accounts.update('ann@example.org', { password: 'another password' }, undefined)
    assert.deepEqual(await identity.login.login(annsOwn), bad)
    assert.notEqual(await tokenOf(identity, { ...annsOwn, password: 'another password' }), token)
  })

  it('rejects a wrong password and an unknown name with the same message', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    const usernames = ['ann@example.org', 'nobody@example.org', 'nobody', '\0', "' or 1=1 --"]
    for (const username of usernames) {
      assert.partialDeepStrictEqual(await identity.login.login({ ...wrong, username }), {
        refused: 'bad-credentials',
      })
    }
    assert.deepEqual(await identity.login.login({ ...wrong, password: 'x'.repeat(100_000) }), bad)
  })

  it('rejects a removed account, and accepts a new one of that name by its own password', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    await identity.accounts.remove('ann@example.org', undefined)
    assert.partialDeepStrictEqual(await identity.login.login(annsOwn), { reason: 'unknown-account' })
    await identity.signUp('ann', { password: 'another password' })
    assert.deepEqual(await identity.login.login(annsOwn), bad)
    await tokenOf(identity, { ...annsOwn, password: 'another password' })
  })

  it('rejects an inactive account like a wrong password, whatever the password', async () => {
    await using identity = await open()
    await identity.signUp('ann', { active: false })
    const inactive = badFor('ann@example.org', 'inactive-account')
    assert.deepEqual(await identity.login.login(annsOwn), inactive)
    assert.deepEqual(await identity.login.login(wrong), inactive)
    await identity.accounts.update('ann@example.org', { active: true }, undefined)
    await tokenOf(identity, annsOwn)
  })

  it('accepts a contact address as a name only once it is verified', async () => {
    await using identity = await open()
    const username = 'office@example.com'
    await identity.signUp('ann')
    await identity.accounts.update('ann@example.org', { contactEmail: username }, undefined)
    assert.partialDeepStrictEqual(await identity.login.login({ ...annsOwn, username }), {
      refused: 'bad-credentials',
      reason: 'unknown-account',
    })
    await identity.accounts.update(
      'ann@example.org',
      { contactEmail: username, contactVerified: true },
      undefined,
    )
    await tokenOf(identity, { ...annsOwn, username })
    await identity.accounts.update('ann@example.org', { contactEmail: username }, undefined)
    await tokenOf(identity, { ...annsOwn, username })
  })

  it('replaces an unknown name by a hash keyed with the secret, equal for equal names', async () => {
    await using identity = await open()
    const actorOf = async (username: string) => {
      const outcome = await identity.login.login({ ...wrong, username })
      return 'actor' in outcome ? outcome.actor : assert.fail('no actor')
    }
    const typed = 'my Password in the wrong field'
    const actor = await actorOf(typed)
    assert.match(actor, /^unknown-[0-9a-f]{16}$/)
    assert.equal(await actorOf(` ${typed.toUpperCase()}`), actor)
    assert.notEqual(await actorOf(`${typed}!`), actor)
    assert.deepEqual(identity.failures[0], { address, kind: 'sign-in', reason: 'refused', user: undefined })
  })

  it('rejects an incomplete device first, and an invalid one only with the right password', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    const { platform, deviceId, deviceName } = laptop
    const refusal = async (request: Parameters<Login['login']>[0]) => {
      const outcome = await identity.login.login(request)
      return 'refused' in outcome ? outcome.refused : 'none'
    }
    assert.equal(await refusal({ ...wrong, platform }), 'invalid-params')
    assert.equal(await refusal({ ...annsOwn, platform, deviceId }), 'invalid-params')
    assert.equal(await refusal({ ...annsOwn, platform, deviceName, deviceId: 'short' }), 'invalid-device-id')
    assert.equal(await refusal({ ...annsOwn, platform: 'beos', deviceName, deviceId }), 'invalid-platform')
    assert.equal(await refusal({ ...wrong, platform: 'beos', deviceName, deviceId }), 'bad-credentials')
    assert.deepEqual(await identity.db.all('select hash from api_token'), [])
  })

  it('issues no token when the password is changed during the check', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    class SlowPasswords extends Passwords {
      override async verify(...args: Parameters<Passwords['verify']>) {
        const matches = await super.verify(...args)
        await identity.accounts.update('ann@example.org', { password: 'another password' }, undefined)
        return matches
      }
    }
    const passwords = new SlowPasswords({ cost: cheapCost })
    const { db } = identity
    const login = identity.loginWith(passwords)
    assert.deepEqual(await login.login(annsOwn), badFor('ann@example.org', 'changed-meanwhile'))
    assert.deepEqual(await db.all('select hash from api_token'), [])
  })

  it('rehashes a password of an older cost on the next login, without revoking tokens', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    const token = await tokenOf(identity, annsOwn)
    const passwords = new Passwords({ cost: { ...cheapCost, passes: 2 } })
    const { db } = identity
    const login = identity.loginWith(passwords)
    const hash = async () => String((await db.get('select password_hash from account'))?.password_hash)
    await login.login(wrong)
    assert.match(await hash(), /t=1,/)
    assert.equal('token' in (await login.login(annsOwn)), true)
    const newer = await hash()
    assert.match(newer, /t=2,/)
    const again = await login.login(annsOwn)
    assert.equal('token' in again && again.token, token)
    assert.equal(await hash(), newer)
  })
})

describe('password guessing', () => {
  it('costs the same work for a wrong password, an unknown name and an inactive account', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    await identity.signUp('bob', { active: false })
    const passwords = new WatchedPasswords({ cost: cheapCost })
    const login = identity.loginWith(passwords)
    let reads = 0
    const count = mock.method(identity.db, 'all')
    const countOne = mock.method(identity.db, 'get')
    const work: unknown[] = []
    for (const username of ['ann@example.org', 'nobody@example.org', 'nobody', 'bob@example.org']) {
      reads = count.mock.callCount() + countOne.mock.callCount()
      passwords.compared.length = 0
      const password = username.startsWith('bob') ? 'secret of bob' : 'a guess'
      assert.partialDeepStrictEqual(await login.login({ username, password, address }), {
        refused: 'bad-credentials',
      })
      reads = count.mock.callCount() + countOne.mock.callCount() - reads
      work.push({ reads, hashes: passwords.compared.length })
    }
    assert.deepEqual(
      work,
      Array.from({ length: 4 }, () => ({ reads: 1, hashes: 1 })),
    )
  })

  it('costs the same work on WebDAV, whether there is an account and whether it has a WebDAV password', async () => {
    await using identity = await openOnSqlite({ rateLimit: false })
    const { accounts, audit, db } = identity
    await identity.signUp('ann')
    await identity.signUp('bob', { active: false })
    const eve = await identity.signUp('eve')
    const passwords = new WatchedPasswords({ cost: cheapCost })
    const secrets = new WebdavSecrets({ db, audit, passwords, onAdded })
    await secrets.set(eve, 'Usable-Secret1', { actor: eve.email, address })
    const now = () => identity.time
    const signIn = new WebdavSignIn({
      db,
      accounts,
      scopedTokens: new ScopedTokens({ db, audit, secret, now, relations: libraryRelations, onAdded }),
      passwordChecks: new PasswordChecks({ accounts, passwords, now, rateLimit: false }),
      secondFactors: identity.secondFactors,
      clients: new WebdavClients({ db, audit, now }),
      login: identity.login,
      audit,
    })
    const client = {
      address,
      network: address,
      signal: new AbortController().signal,
      header: () => undefined,
    }
    const reads = [mock.method(db, 'all'), mock.method(db, 'get')]
    const countReads = () => reads.reduce((sum, read) => sum + read.mock.callCount(), 0)
    for (const guess of ['a guess', 'a'.repeat(30), 'a'.repeat(40)]) {
      const work: unknown[] = []
      for (const name of ['ann', 'bob', 'eve', 'nobody'].map((one) => `${one}@example.org`)) {
        const before = countReads()
        passwords.compared.length = 0
        assert.deepEqual(await signIn.authenticate({ name, secret: guess, client }), { reason: 'unknown' })
        work.push({ reads: countReads() - before, hashes: passwords.compared.length })
      }
      const [first] = work
      assert.partialDeepStrictEqual(first, { hashes: 1 })
      assert.deepEqual(
        work,
        work.map(() => first),
        `for a secret of ${guess.length} characters`,
      )
    }
  })

  it('on WebDAV is counted with that of sign-ins, whether there is a WebDAV password', async () => {
    await using identity = await openOnSqlite()
    const { accounts, audit, db, passwords } = identity
    const eve = await identity.signUp('eve')
    await identity.signUp('ann')
    const secrets = new WebdavSecrets({ db, audit, passwords, onAdded })
    await secrets.set(eve, 'Usable-Secret1', { actor: eve.email, address })
    const now = () => identity.time
    const passwordChecks = new PasswordChecks({ accounts, passwords, now, rateLimit: true })
    const scopedTokens = new ScopedTokens({ db, audit, secret, now, relations: libraryRelations, onAdded })
    const clients = new WebdavClients({ db, audit, now })
    const signIn = new WebdavSignIn({
      db,
      audit,
      accounts,
      login: identity.login,
      scopedTokens,
      passwordChecks,
      secondFactors: identity.secondFactors,
      clients,
    })
    const client = {
      address,
      network: address,
      signal: new AbortController().signal,
      header: () => undefined,
    }
    for (const name of ['ann', 'eve', 'nobody'].map((one) => `${one}@example.org`)) {
      for (let tries = 0; tries < 10; tries += 1) {
        assert.deepEqual(await signIn.authenticate({ name, secret: 'a guess', client }), {
          reason: 'unknown',
        })
      }
      const next = await passwordChecks.check({ kind: 'sign-in', name, password: 'a guess', address })
      assert.equal(next.kind, 'throttled', name)
    }
  })

  it('from elsewhere does not lock out the network and the device of the last sign-in', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    const device = { platform: 'linux', deviceId: 'd'.repeat(40), deviceName: 'Laptop' }
    await tokenOf(identity, { ...annsOwn, ...device })
    for (let tries = 0; tries < 100; tries += 1) {
      assert.deepEqual(await identity.login.login({ ...wrong, address: `198.51.100.${tries}` }), bad)
    }
    const heldBack = { refused: 'throttled', retryAfterSeconds: 300 }
    assert.deepEqual(await identity.login.login({ ...annsOwn, address: '203.0.113.1' }), heldBack)
    await tokenOf(identity, annsOwn)
    await tokenOf(identity, { ...annsOwn, ...device, address: '203.0.113.1' })
  })

  it('is throttled after ten attempts, for the right password too, until the window frees', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    for (let tries = 0; tries < 10; tries += 1) assert.deepEqual(await identity.login.login(wrong), bad)
    identity.time += 60
    const heldBack = { refused: 'throttled', retryAfterSeconds: 240 }
    assert.deepEqual(await identity.login.login(annsOwn), heldBack)
    assert.deepEqual(await identity.login.login({ ...annsOwn, username: 'ANN@example.org' }), heldBack)
    await tokenOf(identity, { ...annsOwn, address: '192.0.2.8' })
    identity.time += 240
    await tokenOf(identity, annsOwn)
  })

  it('is throttled for unknown names, too', async () => {
    await using identity = await openOnSqlite()
    const request = { ...wrong, username: 'nobody@example.org' }
    for (let tries = 0; tries < 10; tries += 1) {
      assert.partialDeepStrictEqual(await identity.login.login(request), { reason: 'unknown-account' })
    }
    assert.deepEqual(await identity.login.login(request), { refused: 'throttled', retryAfterSeconds: 300 })
  })

  it('is not made easier by concurrent attempts', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => identity.login.login(wrong)))
    const tried = outcomes.filter((outcome) => 'refused' in outcome && outcome.refused === 'bad-credentials')
    assert.equal(tried.length, 10)
  })

  it('is throttled after a hundred attempts from many addresses', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    for (let tries = 0; tries < 100; tries += 1) {
      assert.deepEqual(await identity.login.login({ ...wrong, address: `192.0.2.${tries}` }), bad)
    }
    const next = await identity.login.login({ ...wrong, address: '198.51.100.1' })
    assert.deepEqual(next, { refused: 'throttled', retryAfterSeconds: 300 })
  })

  it('is reset by a success, so that nine slips do not add up', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    for (let round = 0; round < 3; round += 1) {
      for (let tries = 0; tries < 9; tries += 1) assert.deepEqual(await identity.login.login(wrong), bad)
      await tokenOf(identity, annsOwn)
    }
  })

  it('does not throttle a client that signs in repeatedly', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    for (let times = 0; times < 15; times += 1) await tokenOf(identity, annsOwn)
    const atOnce = await Promise.all(Array.from({ length: 8 }, () => tokenOf(identity, annsOwn)))
    assert.equal(new Set(atOnce).size, 1)
  })

  it('is not throttled if limits are off', async () => {
    await using identity = await openOnSqlite({ rateLimit: false })
    await identity.signUp('ann')
    for (let tries = 0; tries < 30; tries += 1) assert.deepEqual(await identity.login.login(wrong), bad)
  })
})
