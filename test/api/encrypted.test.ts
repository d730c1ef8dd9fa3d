import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { Client } from '../support/client.ts'
import { createEncrypted, download, openEncrypted, PASSWORD } from '../support/encrypted.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { assertError, assertReply, NOON, Workspace } from './folders-support.ts'

const DONE = { success: true }
const UNKNOWN = '11111111-2222-4333-8444-555555555555'

let server: TestServer
let ann: Client
let time = NOON
before(async () => {
  server = await startServer({ now: () => time })
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

async function make(client = ann): Promise<Workspace> {
  return new Workspace(server, client, (await createEncrypted(client, 2)).id)
}

async function needsPassword(space: Workspace, client = space.client): Promise<boolean> {
  return (await client.get(space.v21(''))).body.lib_need_decrypt
}

describe('the password of an encrypted library', () => {
  for (const encoding of ['form', 'multipart', 'json']) {
    it(`unlocks it for an hour, in both API generations (${encoding})`, async () => {
      const space = await make()
      assert.equal(await needsPassword(space), true)
      const opened = await ann.post(space.v21('set-password/'), { [encoding]: { password: PASSWORD } })
      assertReply(opened, 200, DONE)
      assert.equal(await needsPassword(space), false)
      time += 3599
      assert.equal(await needsPassword(space), false)
      time += 1
      assert.equal(await needsPassword(space), true)
      assertReply(await ann.post(space.v2(''), { [encoding]: { password: PASSWORD } }), 200, 'success')
      assert.equal(await needsPassword(space), false)
    })
  }

  it('restarts the hour when it is entered again', async () => {
    const space = await make()
    await openEncrypted(ann, space.id)
    time += 3000
    await openEncrypted(ann, space.id)
    time += 3000
    assert.equal(await needsPassword(space), false)
    time += 600
    assert.equal(await needsPassword(space), true)
  })

  it('is rejected with 400 when it is wrong, missing or not a string, and unlocks nothing', async () => {
    const space = await make()
    const url = space.v21('set-password/')
    assertError(await ann.post(url, { form: { password: 'x' } }), 400, 'Wrong password')
    for (const json of [{}, { password: '' }, { password: null }, { password: [] }, { password: 'a\0' }]) {
      assertError(await ann.post(url, { json }), 400, 'password invalid.')
    }
    assert.equal(await needsPassword(space), true)
    const plain = await Workspace.make(server, ann)
    const words = `Library ${plain.id} is not encrypted.`
    for (const method of ['POST', 'DELETE']) {
      assertError(await ann.call(method, plain.v21('set-password/'), { form: { password: 'x' } }), 400, words)
    }
    const form = { old_password: 'x', new_password: 'y' }
    assertError(await ann.put(plain.v21('set-password/'), { form }), 400, words)
  })

  it('is useless to accounts without access', async () => {
    const space = await make()
    const bob = await server.signUp()
    for (const [method, form] of [
      ['POST', { password: PASSWORD }],
      ['PUT', { old_password: PASSWORD, new_password: 'y' }],
      ['DELETE', {}],
    ] as const) {
      assertError(await bob.call(method, space.v21('set-password/'), { form }), 403, 'Permission denied.')
      const gone = `/api/v2.1/repos/${UNKNOWN}/set-password/`
      assertError(await ann.call(method, gone, { form }), 404, `Library ${UNKNOWN} not found.`)
      const nobody = await server.anonymous.call(method, space.v21('set-password/'), { form })
      assert.ok([401, 403].includes(nobody.status))
    }
  })

  it('is discarded on request of its account, and not on that of any other', async () => {
    const [one, other] = [await make(), await make()]
    for (const space of [one, other]) await openEncrypted(ann, space.id)
    for (const _ of [1, 2]) assertReply(await ann.delete(one.v21('set-password/')), 200, DONE)
    assert.deepEqual([await needsPassword(one), await needsPassword(other)], [true, false])
  })

  it('is discarded when the account is deactivated or changes its password, or the library is deleted', async () => {
    const { accounts, apiTokens } = server.running.services
    for (const changes of [{ active: false }, { password: 'another long one' }]) {
      const user = await server.signUp()
      const space = await make(user)
      await openEncrypted(user, space.id)
      await accounts.update(user.email, changes, undefined)
      const account = await accounts.update(user.email, { active: true }, undefined)
      const again = new Client(server.url, await apiTokens.issue(account, undefined), user.email)
      assert.equal(await needsPassword(space, again), true)
    }
    const space = await make()
    await openEncrypted(ann, space.id)
    await ann.delete(space.v2(''))
    await ann.post('/api/v2.1/deleted-repos/', { form: { repo_id: space.id } })
    assert.equal(await needsPassword(space), true)
  })

  it('is not stored: neither it nor a key is in the database', async () => {
    const space = await make()
    await openEncrypted(ann, space.id)
    const { core } = server.running.services
    const row = await dbOf(core).get<Record<string, unknown>>('select * from library where id = ?', space.id)
    assert.ok(row)
    assert.ok(!JSON.stringify(row).includes(PASSWORD))
  })
})

describe('changing the password of an encrypted library', () => {
  const change = (space: Workspace, form: Record<string, string>, client = space.client) =>
    client.put(space.v21('set-password/'), { form })

  it('keeps the content, creates a commit, and locks the library for everyone but the caller', async () => {
    const space = await make()
    await openEncrypted(ann, space.id)
    await uploadFile(ann, space.id, '/a.txt', 'secret')
    const before = (await ann.get(space.v2(''))).body
    assertReply(await change(space, { old_password: PASSWORD, new_password: 'newer' }), 200, DONE)
    const after = (await ann.get(space.v2(''))).body
    assert.notEqual(after.magic, before.magic)
    assert.notEqual(after.random_key, before.random_key)
    assert.deepEqual([after.root, after.enc_version], [before.root, before.enc_version])
    assert.equal(await space.lastCommit(), 'Changed library password')
    assert.equal(await needsPassword(space), false)
    assert.equal((await download(ann, space.id, '/a.txt')).toString(), 'secret')
    await ann.delete(space.v21('set-password/'))
    assertError(await ann.post(space.v2(''), { form: { password: PASSWORD } }), 400, 'Incorrect password')
    await openEncrypted(ann, space.id, 'newer')
    assert.equal((await download(ann, space.id, '/a.txt')).toString(), 'secret')
    const info = (await ann.get(space.v2('download-info/'))).body
    assert.deepEqual([info.magic, info.random_key], [after.magic, after.random_key])
  })

  it('does not unlock the library for a caller who had it locked', async () => {
    const space = await make()
    const form = { operation: 'change-password', old_password: PASSWORD, new_password: 'newer' }
    assertReply(await change(space, form), 200, DONE)
    assert.equal(await needsPassword(space), true)
    await openEncrypted(ann, space.id, 'newer')
  })

  it('rejects wrong and missing values in the documented order', async () => {
    const space = await make()
    const head = await space.head()
    const good = { old_password: PASSWORD, new_password: 'newer' }
    const rows: [form: Record<string, string>, status: number, words: string][] = [
      [{ ...good, operation: 'x', old_password: '' }, 400, 'operation invalid.'],
      [{ ...good, operation: 'reset-password' }, 403, 'Feature disabled.'],
      [{ ...good, operation: 'can-reset-password' }, 403, 'Feature disabled.'],
      [{ ...good, old_password: '' }, 400, 'old_password invalid.'],
      [{ old_password: PASSWORD }, 400, 'new_password invalid.'],
      [{ ...good, new_password: 'a\0' }, 400, 'new_password invalid.'],
      [{ ...good, old_password: 'x' }, 403, 'Wrong old password'],
    ]
    for (const [form, status, words] of rows) assertError(await change(space, form), status, words)
    await space.makeReadOnly()
    assertError(await change(space, good), 403, 'Permission denied.')
    assert.equal(await space.head(), head)
  })

  it('lets one of many concurrent changes win, and the winner sets the password', async () => {
    const space = await make()
    await openEncrypted(ann, space.id)
    await uploadFile(ann, space.id, '/a.txt', 'secret')
    const wanted = ['p1', 'p2', 'p3', 'p4']
    const replies = await Promise.all(
      wanted.map((new_password) => change(space, { old_password: PASSWORD, new_password })),
    )
    const winners = wanted.filter((_, index) => replies[index]?.status === 200)
    assert.equal(winners.length, 1, replies.map((reply) => reply.text).join())
    await ann.delete(space.v21('set-password/'))
    await openEncrypted(ann, space.id, winners[0])
    assert.equal((await download(ann, space.id, '/a.txt')).toString(), 'secret')
  })
})

describe('password guessing', () => {
  it('is throttled per account and library after ten wrong passwords, with the remaining time', async () => {
    let now = NOON
    await using strict = await startServer({ now: () => now, env: { CARREL_RATE_LIMIT: 'on' } })
    const user = await strict.signUp()
    const [library, other] = [await createEncrypted(user, 2), await createEncrypted(user, 3)]
    const urls = [`/api2/repos/${library.id}/`, `/api/v2.1/repos/${library.id}/set-password/`]
    for (let guess = 0; guess < 10; guess++) {
      const reply = await user.post(urls[guess % 2] ?? '', { form: { password: `x${guess}` } })
      assert.equal(reply.status, 400)
    }
    const form = { password: PASSWORD, old_password: PASSWORD, new_password: 'y' }
    for (const [method, url] of [
      ['POST', urls[0]],
      ['POST', urls[1]],
      ['PUT', urls[1]],
    ] as const) {
      const held = await user.call(method, url ?? '', { form })
      assert.deepEqual([held.status, held.headers.get('retry-after')], [429, '300'])
    }
    await openEncrypted(user, other.id)
    now += 301
    await openEncrypted(user, library.id)
  })
})

describe('reverting an encrypted library', () => {
  it('requires its password', async () => {
    const space = await make()
    const head = await space.head()
    await space.file('/new')
    const url = space.v21(`commits/${head}/revert/`)
    assertError(await ann.post(url), 403, 'This library has not been decrypted.')
    await openEncrypted(ann, space.id)
    assertReply(await ann.post(url), 200, DONE)
    assert.deepEqual(await space.names(), [])
  })
})

describe('a library encrypted with a password hash', () => {
  it('is unlocked and gets another password with its own algorithm', async () => {
    const { id } = await createEncrypted(ann, 4)
    const made = (await ann.get(`/api2/repos/${id}/`)).body
    const { core } = server.running.services
    // For versions 3 and 4 the magic is the hash with a thousand iterations.
    const sql =
      "update library set pwd_hash = magic, pwd_hash_algo = 'pbkdf2_sha256', magic = '' where id = ?"
    await dbOf(core).write((tx) => tx.run(sql, id))
    await openEncrypted(ann, id)
    await uploadFile(ann, id, '/a.txt', 'secret')
    const form = { old_password: PASSWORD, new_password: 'newer' }
    assertReply(await ann.put(`/api/v2.1/repos/${id}/set-password/`, { form }), 200, DONE)
    const info = (await ann.get(`/api2/repos/${id}/download-info/`)).body
    assert.deepEqual([info.magic, info.pwd_hash_algo], ['', 'pbkdf2_sha256'])
    assert.ok(info.pwd_hash !== made.magic && /^[0-9a-f]{64}$/.test(info.pwd_hash))
    await ann.delete(`/api/v2.1/repos/${id}/set-password/`)
    await openEncrypted(ann, id, 'newer')
    assert.equal((await download(ann, id, '/a.txt')).toString(), 'secret')
  })
})
