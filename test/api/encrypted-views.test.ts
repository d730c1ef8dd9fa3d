import assert from 'node:assert/strict'
import { pbkdf2Sync } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import {
  createEncrypted,
  createVersion1,
  download,
  openEncrypted,
  PASSWORD,
  readAsClient,
  VERSION_1_PASSWORD,
} from '../support/encrypted.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { assertError } from './folders-support.ts'
import { makeFolder, shareWith } from './sharing-support.ts'

// Clients sync a folder of an encrypted library through a view with the key of the library and a check value of its own.

let server: TestServer
let ann: Client
before(async () => {
  server = await startServer()
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

const ask = (who: Client, id: string, query: Record<string, string>) =>
  who.get(`/api2/repos/${id}/dir/sub_repo/`, { name: 'docs', ...query })

async function viewOf(who: Client, id: string, p: string, password = PASSWORD): Promise<string> {
  const reply = await ask(who, id, { p, password })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.sub_repo_id
}

const keysOf = async (id: string) => (await ann.get(`/api2/repos/${id}/download-info/`)).body

/** The check value as a client computes it. */
function magicOf(id: string, password: string, salt: string): string {
  const bytes = Buffer.from(salt || 'da9045c306c7cc26', 'hex')
  return pbkdf2Sync(id + password, bytes, 1000, 32, 'sha256').toString('hex')
}

describe('a view of a folder of an encrypted library', () => {
  for (const version of [2, 3, 4] as const) {
    it(`has the key of the library and a check value of its own (version ${version})`, async () => {
      const library = await createEncrypted(ann, version)
      await makeFolder(ann, library.id, '/docs/deep')
      const view = await viewOf(ann, library.id, '/docs')
      assert.equal(await viewOf(ann, library.id, '/docs/'), view)
      const [own, whole] = [await keysOf(view), await keysOf(library.id)]
      assert.deepEqual(
        [own.encrypted, own.enc_version, own.random_key, own.salt],
        [whole.encrypted, version, whole.random_key, whole.salt],
      )
      assert.equal(own.magic, magicOf(view, PASSWORD, version === 2 ? '' : own.salt))
      assert.notEqual(own.magic, whole.magic)

      assert.equal((await ann.get(`/api/v2.1/repos/${view}/`)).body.lib_need_decrypt, true)
      await openEncrypted(ann, view)
      await uploadFile(ann, view, '/deep/a.txt', 'secret')
      assert.equal((await readAsClient(ann, library, '/docs/deep/a.txt')).toString(), 'secret')
      await openEncrypted(ann, library.id)
      assert.equal((await download(ann, library.id, '/docs/deep/a.txt')).toString(), 'secret')
      assert.equal(await viewOf(ann, view, '/deep'), await viewOf(ann, library.id, '/docs/deep'))
    })
  }

  it('exists in libraries of version 1, whose password is the key', async () => {
    const { id } = await createVersion1(server, ann)
    await makeFolder(ann, id, '/docs')
    const view = await viewOf(ann, id, '/docs', VERSION_1_PASSWORD)
    await openEncrypted(ann, view, VERSION_1_PASSWORD)
    await uploadFile(ann, view, '/a.txt', 'secret')
    await openEncrypted(ann, id, VERSION_1_PASSWORD)
    assert.equal((await download(ann, id, '/docs/a.txt')).toString(), 'secret')
  })

  it('is refused without the password, and to strangers', async () => {
    const { id } = await createEncrypted(ann, 2)
    await makeFolder(ann, id, '/docs')
    for (const password of ['', 'a\0']) {
      assertError(await ask(ann, id, { p: '/docs', password }), 400, 'password invalid.')
    }
    assertError(await ask(ann, id, { p: '/docs' }), 400, 'password invalid.')
    assertError(await ask(ann, id, { p: '/docs', password: 'wrong' }), 400, 'Wrong password')
    assertError(await ask(ann, id, { p: '/none', password: PASSWORD }), 404, 'Folder /none/ not found.')
    assertError(await ask(ann, id, { p: '/', password: PASSWORD }), 400, 'p invalid.')
    const stranger = await server.signUp()
    assertError(await ask(stranger, id, { p: '/docs', password: PASSWORD }), 403, 'Permission denied.')
  })

  it('is made for a reader of the library, and cannot be shared', async () => {
    const { id } = await createEncrypted(ann, 2)
    await makeFolder(ann, id, '/docs')
    const bob = await server.signUp()
    await shareWith(ann, id, bob, { permission: 'r' })
    const view = await viewOf(bob, id, '/docs')
    assert.equal((await bob.get(`/api2/repos/${view}/`)).body.permission, 'r')
    const stranger = await server.signUp()
    const shared = await ann.put(`/api2/repos/${view}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: stranger.email, permission: 'r' },
    })
    assert.equal((await stranger.get(`/api2/repos/${view}/`)).status, 403, shared.text)
  })

  it('has the new password after a change, and the old key is gone', async () => {
    const { id } = await createEncrypted(ann, 2)
    await makeFolder(ann, id, '/docs')
    const view = await viewOf(ann, id, '/docs')
    await openEncrypted(ann, view)
    await uploadFile(ann, view, '/a.txt', 'secret')
    const form = { operation: 'change-password', old_password: PASSWORD, new_password: 'newer' }
    const changed = await ann.put(`/api/v2.1/repos/${id}/set-password/`, { form })
    assert.equal(changed.status, 200, changed.text)
    assert.equal((await keysOf(view)).magic, magicOf(view, 'newer', ''))
    assert.equal((await ann.get(`/api/v2.1/repos/${view}/`)).body.lib_need_decrypt, true)
    const old = await ann.post(`/api/v2.1/repos/${view}/set-password/`, { form: { password: PASSWORD } })
    assertError(old, 400, 'Wrong password')
    await openEncrypted(ann, view, 'newer')
    assert.equal((await download(ann, view, '/a.txt')).toString(), 'secret')
    assertError(await ask(ann, id, { p: '/docs', password: PASSWORD }), 400, 'Wrong password')
    assert.equal(await viewOf(ann, id, '/docs', 'newer'), view)
  })

  it('never keeps a check value of an old password when both are requested at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await createEncrypted(ann, 2)
      await makeFolder(ann, id, '/docs')
      const form = { operation: 'change-password', old_password: PASSWORD, new_password: 'newer' }
      const [, made] = await Promise.all([
        ann.put(`/api/v2.1/repos/${id}/set-password/`, { form }),
        ask(ann, id, { p: '/docs', password: PASSWORD }),
      ])
      assert.ok(made.status === 200 || made.body.error_msg === 'Wrong password', made.text)
      const view = await viewOf(ann, id, '/docs', 'newer')
      assert.equal((await keysOf(view)).magic, magicOf(view, 'newer', ''))
    }
  })

  it('throttles guesses of the password', async () => {
    await using strict = await startServer({ env: { CARREL_RATE_LIMIT: 'on' } })
    const user = await strict.signUp()
    const { id } = await createEncrypted(user, 2)
    await makeFolder(user, id, '/docs')
    for (let tries = 0; tries < 10; tries += 1) {
      assertError(await ask(user, id, { p: '/docs', password: 'wrong' }), 400, 'Wrong password')
    }
    assert.equal((await ask(user, id, { p: '/docs', password: PASSWORD })).status, 429)
  })
})
