import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Login } from './login.ts'
import { Passwords } from './passwords.ts'
import { cheapCost, laptop, onEachDatabase, openOnSqlite, type TestIdentity } from './test-support.ts'

const address = '192.0.2.7'
const annsOwn = { username: 'ann@example.org', password: 'secret of ann', address }
const wrong = { ...annsOwn, password: 'a guess' }
const bad = { refused: 'bad-credentials' }

async function tokenOf(identity: TestIdentity, request: Parameters<Login['login']>[0]): Promise<string> {
  const outcome = await identity.login.login(request)
  return 'token' in outcome ? outcome.token : assert.fail(outcome.refused)
}

/** Notes what passwords were compared with, in place of comparing them. */
class WatchedPasswords extends Passwords {
  readonly compared: (string | undefined)[] = []
  override async verify(password: string, encoded: string | undefined): Promise<boolean> {
    this.compared.push(encoded)
    return super.verify(password, encoded)
  }
}

await onEachDatabase('Login', (open) => {
  it('gives the token of the account, the same each time, by any of its names', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann', { loginId: 'reader', contactEmail: 'office@example.com' })
    const token = await tokenOf(identity, annsOwn)
    const found = await identity.apiTokens.authenticate(token)
    const { apiTokenKey, ...opened } = 'ok' in found ? found.ok : assert.fail()
    assert.deepEqual(opened, { ...ann, lastLoginAt: identity.time })
    assert.equal(typeof apiTokenKey, 'number')
    for (const username of ['Ann@Example.org', 'reader', 'office@example.com']) {
      assert.equal(await tokenOf(identity, { ...annsOwn, username }), token)
    }
  })

  it('gives each device a token of its own and remembers the device', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const token = await tokenOf(identity, { ...annsOwn, ...laptop })
    assert.notEqual(token, await tokenOf(identity, annsOwn))
    assert.equal(await tokenOf(identity, { ...annsOwn, ...laptop }), token)
    const times = { createdAt: identity.time, lastUsedAt: identity.time }
    const devices = await identity.apiTokens.listDevices(ann)
    assert.deepEqual(devices, [{ ...laptop, loginAddress: address, wipedAt: null, ...times }])
  })

  it('gives another token after the password was changed', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    const token = await tokenOf(identity, annsOwn)
    await identity.accounts.update('ann@example.org', { password: 'another' })
    assert.deepEqual(await identity.login.login(annsOwn), bad)
    assert.notEqual(await tokenOf(identity, { ...annsOwn, password: 'another' }), token)
  })

  it('refuses a wrong password and an unknown name in the same words', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    const usernames = ['ann@example.org', 'nobody@example.org', 'nobody', '\0', "' or 1=1 --"]
    for (const username of usernames) {
      assert.deepEqual(await identity.login.login({ ...wrong, username }), bad)
    }
    assert.deepEqual(await identity.login.login({ ...wrong, password: 'x'.repeat(100_000) }), bad)
  })

  it('refuses a removed account, and knows the new one of that name by its own password', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    await identity.accounts.remove('ann@example.org')
    assert.deepEqual(await identity.login.login(annsOwn), bad)
    await identity.signUp('ann', { password: 'another' })
    assert.deepEqual(await identity.login.login(annsOwn), bad)
    await tokenOf(identity, { ...annsOwn, password: 'another' })
  })

  it('says that an account is disabled, whatever the password', async () => {
    await using identity = await open()
    await identity.signUp('ann', { active: false })
    assert.deepEqual(await identity.login.login(annsOwn), { refused: 'disabled' })
    assert.deepEqual(await identity.login.login(wrong), { refused: 'disabled' })
    await identity.accounts.update('ann@example.org', { active: true })
    await tokenOf(identity, annsOwn)
  })

  it('refuses half a device before anything, and an odd one only to who knows the password', async () => {
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

  it('gives no token when the password is changed while it is checked', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    class SlowPasswords extends Passwords {
      override async verify(password: string, encoded: string | undefined) {
        const matches = await super.verify(password, encoded)
        await identity.accounts.update('ann@example.org', { password: 'another' })
        return matches
      }
    }
    const passwords = new SlowPasswords({ cost: cheapCost })
    const { db, apiTokens } = identity
    const accounts = identity.accountsWith(passwords)
    const login = new Login({ db, accounts, apiTokens, passwords, now: () => identity.time, rateLimit: true })
    assert.deepEqual(await login.login(annsOwn), bad)
    assert.deepEqual(await db.all('select hash from api_token'), [])
  })

  it('keeps a hash made at an older cost no longer than to the next login, and ends no token by it', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    const token = await tokenOf(identity, annsOwn)
    const passwords = new Passwords({ cost: { ...cheapCost, passes: 2 } })
    const accounts = identity.accountsWith(passwords)
    const { db, apiTokens } = identity
    const login = new Login({ db, accounts, apiTokens, passwords, now: () => identity.time, rateLimit: true })
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

describe('guessing', () => {
  it('compares an unknown name with a hash too, so that it takes as long', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    const passwords = new WatchedPasswords({ cost: cheapCost })
    const accounts = identity.accountsWith(passwords)
    const { db, apiTokens } = identity
    const login = new Login({ db, accounts, apiTokens, passwords, now: () => identity.time, rateLimit: true })
    await login.login(wrong)
    await login.login({ ...wrong, username: 'nobody@example.org' })
    assert.equal(passwords.compared.length, 2)
    assert.match(passwords.compared[0] ?? '', /^\$argon2id/)
    assert.equal(passwords.compared[1], undefined)
  })

  it('is held back after ten tries, the right password included, until the window frees', async () => {
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

  it('is held back for unknown names just the same', async () => {
    await using identity = await openOnSqlite()
    const request = { ...wrong, username: 'nobody@example.org' }
    for (let tries = 0; tries < 10; tries += 1) assert.deepEqual(await identity.login.login(request), bad)
    assert.deepEqual(await identity.login.login(request), { refused: 'throttled', retryAfterSeconds: 300 })
  })

  it('is not made easier by trying many at once', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => identity.login.login(wrong)))
    const tried = outcomes.filter((outcome) => 'refused' in outcome && outcome.refused === 'bad-credentials')
    assert.equal(tried.length, 10)
  })

  it('is held back after a hundred tries from many addresses', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    for (let tries = 0; tries < 100; tries += 1) {
      assert.deepEqual(await identity.login.login({ ...wrong, address: `192.0.2.${tries}` }), bad)
    }
    const next = await identity.login.login({ ...wrong, address: '198.51.100.1' })
    assert.deepEqual(next, { refused: 'throttled', retryAfterSeconds: 300 })
  })

  it('is forgotten with a success, so that nine slips do not add up', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    for (let round = 0; round < 3; round += 1) {
      for (let tries = 0; tries < 9; tries += 1) assert.deepEqual(await identity.login.login(wrong), bad)
      await tokenOf(identity, annsOwn)
    }
  })

  it('does not stop a client that signs in again and again', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann')
    for (let times = 0; times < 15; times += 1) await tokenOf(identity, annsOwn)
    const atOnce = await Promise.all(Array.from({ length: 8 }, () => tokenOf(identity, annsOwn)))
    assert.equal(new Set(atOnce).size, 1)
  })

  it('is let be where limits are off', async () => {
    await using identity = await openOnSqlite({ rateLimit: false })
    await identity.signUp('ann')
    for (let tries = 0; tries < 30; tries += 1) assert.deepEqual(await identity.login.login(wrong), bad)
  })
})
