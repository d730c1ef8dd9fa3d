import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import {
  byAnn,
  laptop,
  onEachDatabase,
  openOnSqlite,
  secret,
  type TestIdentity,
} from '../../../test/support/identity.ts'
import { ApiTokens } from './api-tokens.ts'

const telephone = { ...laptop, platform: 'android', deviceId: 'ab12', deviceName: 'Telephone' } as const
/** The account of a token, without the token. */
async function opened(tokens: ApiTokens, token: string) {
  const found = await tokens.authenticate(token)
  if (!('ok' in found)) return undefined
  const { apiTokenKey, ...account } = found.ok
  assert.equal(typeof apiTokenKey, 'number')
  return account
}

const unknown = { reason: 'unknown' }

const lastUsed = async (identity: TestIdentity) =>
  (await identity.db.all('select last_used_at from api_token')).map((row) => row.last_used_at)

await onEachDatabase('ApiTokens', (open) => {
  it('returns 40 hex characters for an account, the same on every call', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const token = await identity.apiTokens.issue(ann, undefined)
    assert.match(token, /^[0-9a-f]{40}$/)
    assert.equal(await identity.apiTokens.issue(ann, undefined), token)
    const afterRestart = new ApiTokens({
      db: identity.db,
      audit: identity.audit,
      secret,
      now: () => identity.time,
      dependents: [],
    })
    assert.equal(await afterRestart.issue(ann, undefined), token)
    assert.deepEqual(await opened(afterRestart, token), ann)
  })

  it('issues a separate token for each account and each of its devices', async () => {
    await using identity = await open()
    const [ann, bob] = [await identity.signUp('ann'), await identity.signUp('bob')]
    const issue = () =>
      Promise.all([
        identity.apiTokens.issue(ann, undefined),
        identity.apiTokens.issue(bob, undefined),
        identity.apiTokens.issue(ann, undefined, laptop),
        identity.apiTokens.issue(bob, undefined, laptop),
        identity.apiTokens.issue(ann, undefined, telephone),
        identity.apiTokens.issue(ann, undefined, { ...laptop, platform: 'mac' }),
      ])
    const tokens = await issue()
    assert.equal(new Set(tokens).size, 6)
    assert.deepEqual(await issue(), tokens)
    assert.equal((await identity.db.all('select hash from api_token')).length, 6)
  })

  it('issues one token for concurrent logins of one device', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const tokens = await Promise.all(
      Array.from({ length: 6 }, () => identity.apiTokens.issue(ann, undefined, laptop)),
    )
    assert.equal(new Set(tokens).size, 1)
  })

  it('issues a new token after the last one was revoked', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const [token, other] = [
      await identity.apiTokens.issue(ann, undefined),
      await identity.apiTokens.issue(ann, undefined, laptop),
    ]
    assert.equal(await identity.apiTokens.revoke(ann, token, byAnn), true)
    assert.equal(await identity.apiTokens.revoke(ann, token, byAnn), false)
    assert.deepEqual(await identity.apiTokens.authenticate(token), unknown)
    assert.deepEqual(await opened(identity.apiTokens, other), ann)
    const next = await identity.apiTokens.issue(ann, undefined)
    assert.notEqual(next, token)
    await identity.accounts.signOutEverywhere(ann, undefined)
    assert.deepEqual(await identity.apiTokens.authenticate(next), unknown)
    assert.deepEqual(await identity.apiTokens.authenticate(other), unknown)
  })

  it('replaces a token that it cannot derive any more because the server secret changed', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const token = await identity.apiTokens.issue(ann, undefined)
    const moved = new ApiTokens({
      db: identity.db,
      audit: identity.audit,
      secret: [Buffer.from('another secret of the server')],
      now: () => identity.time,
      dependents: [],
    })
    assert.deepEqual(await opened(moved, token), ann)
    const newer = await moved.issue(ann, undefined)
    assert.notEqual(newer, token)
    assert.equal(await moved.issue(ann, undefined), newer)
    assert.deepEqual(await opened(moved, newer), ann)
    assert.deepEqual(await moved.authenticate(token), unknown)
  })

  it('rejects tokens that were not issued', async () => {
    await using identity = await open()
    const token = await identity.apiTokens.issue(await identity.signUp('ann'), undefined)
    const others = [
      '',
      'x',
      '0'.repeat(40),
      token.toUpperCase(),
      `${token}0`,
      token.slice(1),
      ` ${token}`,
      '\0',
    ]
    for (const other of others) assert.deepEqual(await identity.apiTokens.authenticate(other), unknown)
  })

  it('distinguishes a token that survived deactivation from an unknown one, and issues none', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const token = await identity.apiTokens.issue(ann, undefined)
    await identity.db.write((tx) => tx.run('update account set active = 0'))
    assert.deepEqual(await identity.apiTokens.authenticate(token), { reason: 'inactive' })
    const again = identity.apiTokens.issue(ann, undefined)
    await assert.rejects(again, { fault: { code: 'account-not-found', email: 'ann@example.org' } })
  })

  it('reflects changes of the account on the next request', async () => {
    await using identity = await open()
    const token = await identity.apiTokens.issue(await identity.signUp('ann'), undefined)
    const changed = await identity.accounts.update('ann@example.org', { role: 'admin', quota: 9 }, undefined)
    assert.deepEqual(await opened(identity.apiTokens, token), changed)
  })

  it('records the use of a token at most once an hour', async () => {
    await using identity = await open()
    const start = identity.time
    const token = await identity.apiTokens.issue(await identity.signUp('ann'), undefined)
    identity.time = start + 3599
    await identity.apiTokens.authenticate(token)
    assert.deepEqual(await lastUsed(identity), [start])
    identity.time = start + 3600
    await identity.apiTokens.authenticate(token)
    assert.deepEqual(await lastUsed(identity), [start + 3600])
    identity.time = start + 7199
    await identity.apiTokens.authenticate(token)
    assert.deepEqual(await lastUsed(identity), [start + 3600])
  })

  it('lists linked devices, desktops first, as of their last sign-in', async () => {
    await using identity = await open()
    const start = identity.time
    const ann = await identity.signUp('ann')
    const desk = { ...laptop, deviceId: 'e'.repeat(40), deviceName: 'Desk' }
    await identity.apiTokens.issue(ann, undefined)
    await identity.apiTokens.issue(ann, undefined, laptop, { address: '192.0.2.7' })
    identity.time += 10
    await identity.apiTokens.issue(ann, undefined, desk, { address: '192.0.2.8' })
    identity.time += 10
    await identity.apiTokens.issue(ann, undefined, telephone)
    const list = () => identity.apiTokens.listDevices(ann)
    assert.deepEqual(
      (await list()).map(({ deviceName }) => deviceName),
      ['Desk', 'Laptop', 'Telephone'],
    )
    identity.time += 10
    await identity.apiTokens.issue(
      ann,
      undefined,
      { ...laptop, deviceName: 'New name', clientVersion: '9.1' },
      { address: '192.0.2.9' },
    )
    assert.deepEqual((await list())[0], {
      ...laptop,
      deviceName: 'New name',
      clientVersion: '9.1',
      loginAddress: '192.0.2.9',
      createdAt: start,
      lastUsedAt: start + 30,
      wipedAt: null,
    })
    assert.equal(await identity.apiTokens.revokeDevice(ann, laptop, byAnn), true)
    assert.equal(await identity.apiTokens.revokeDevice(ann, laptop, byAnn), false)
    assert.deepEqual(
      (await list()).map(({ deviceName }) => deviceName),
      ['Desk', 'Telephone'],
    )
  })

  it('updates the client version that a device sends', async () => {
    await using identity = await open()
    const ann = await identity.signUp('ann')
    const token = await identity.apiTokens.issue(ann, undefined, laptop)
    const plain = await identity.apiTokens.issue(ann, undefined)
    const versions = async () => {
      const [device] = await identity.apiTokens.listDevices(ann)
      return [device?.clientVersion, device?.platformVersion]
    }
    await identity.apiTokens.authenticate(token, { clientVersion: '9.0.9' })
    assert.deepEqual(await versions(), ['9.0.9', '6.1'])
    for (const odd of ['', '\0', 'x'.repeat(65)]) {
      await identity.apiTokens.authenticate(token, { clientVersion: odd, platformVersion: odd })
    }
    assert.deepEqual(await versions(), ['9.0.9', '6.1'])
    await identity.apiTokens.authenticate(plain, { clientVersion: '1' })
    const row = await identity.db.get("select client_version from api_token where platform = ''")
    assert.equal(row?.client_version, '')
  })
})

describe('the database file', () => {
  it('contains no API token and no sync token, as text or as bytes, nor the password', async () => {
    await using identity = await openOnSqlite()
    const ann = await identity.signUp('ann')
    const tokens = [
      await identity.apiTokens.issue(ann, undefined),
      await identity.apiTokens.issue(ann, undefined, laptop),
    ]
    tokens.push(await identity.syncTokens.issue(await identity.addLibrary(ann), ann))
    const files = await readdir(identity.folder)
    const contents = await Promise.all(files.map((name) => readFile(path.join(identity.folder, name))))
    const bytes = Buffer.concat(contents)
    assert.ok(bytes.includes('ann@example.org'), 'the files contain the written data')
    for (const token of tokens) {
      assert.equal(bytes.includes(token), false)
      assert.equal(bytes.includes(Buffer.from(token, 'hex')), false)
    }
    assert.equal(bytes.includes('secret of ann'), false)
  })
})
