import assert from 'node:assert/strict'
import { after, before, describe, it, mock } from 'node:test'
import { openSealedKey } from '../../src/libraries/content/sealed-key.ts'
import { shareWith } from '../api/sharing-support.ts'
import { Client } from '../support/client.ts'
import { createEncrypted, download, downloadLink, openEncrypted, PASSWORD } from '../support/encrypted.ts'
import { at, Nodes } from '../support/nodes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import type { TestServer } from '../support/server.ts'
import { filePart, intoRoot, postForm, uploadLink } from '../support/transfer.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false
const TEXT = 'text of an encrypted library'

describe('an encrypted library on several nodes', { skip }, () => {
  let postgres: PostgresServer
  let nodes: Nodes
  let first: TestServer
  let second: TestServer
  before(async () => {
    postgres = found as PostgresServer
    nodes = await Nodes.create(postgres)
    first = await nodes.start()
    second = await nodes.start()
  })
  after(async () => {
    await nodes[Symbol.asyncDispose]()
    await postgres[Symbol.asyncDispose]()
  })

  /** An account with an encrypted library that it has opened at the first node. */
  async function opened(): Promise<{ here: Client; there: Client; id: string }> {
    const here = await first.signUp()
    const { id } = await createEncrypted(here, 2)
    await openEncrypted(here, id)
    const link = await uploadLink(here, id)
    assert.equal((await postForm(link, [intoRoot, filePart('a.txt', TEXT)])).status, 200)
    return { here, there: at(second, here), id }
  }

  /** The status of reading the file with a new ticket of the node, at that node. */
  async function readAt(client: Client, id: string): Promise<string> {
    const reply = await client.get(`/api2/repos/${id}/file/`, { p: '/a.txt', reuse: 1 })
    if (reply.status !== 200) return String(reply.status)
    const response = await fetch(reply.body)
    return response.status === 200 ? response.text() : String(response.status)
  }

  const lock = (client: Client, id: string) => client.delete(`/api/v2.1/repos/${id}/set-password/`)

  it('is read at every node with the credential that opened it, and with no other', async () => {
    const { here, there, id } = await opened()
    for (const client of [here, there]) assert.equal(String(await download(client, id, '/a.txt')), TEXT)
    assert.equal((await there.get(`/api/v2.1/repos/${id}/`)).body.lib_need_decrypt, false)
    const session = await second.running.services.apiTokens.issue(
      await second.running.services.accounts.get(here.email),
      undefined,
    )
    assert.notEqual(session, here.token)
    assert.notEqual(await readAt(new Client(second.url, session, here.email), id), TEXT)
  })

  it('is uploaded to and downloaded from by tickets that reach another node', async () => {
    const { here, id } = await opened()
    const moved = (link: string) => link.replace(first.url, second.url)
    const link = moved(await uploadLink(here, id))
    assert.equal((await postForm(link, [intoRoot, filePart('b.txt', 'from there')])).status, 200)
    const response = await fetch(moved(await downloadLink(here, id, '/b.txt')))
    assert.equal(await response.text(), 'from there')
  })

  it('is locked at all nodes at once, also for tickets', async () => {
    const { here, there, id } = await opened()
    const ticket = await downloadLink(there, id, '/a.txt')
    assert.equal(await readAt(there, id), TEXT)
    await lock(here, id)
    for (const client of [here, there]) assert.notEqual(await readAt(client, id), TEXT)
    assert.notEqual((await fetch(ticket)).status, 200)
    assert.deepEqual(await rows(id), [])
  })

  it('is locked at all nodes by signing out, and after an hour', async (t) => {
    const { there, id } = await opened()
    assert.equal(await readAt(there, id), TEXT)
    await there.post('/api2/logout-device/', {})
    assert.deepEqual(await rows(id), [])
    const later = await opened()
    assert.equal(await readAt(later.there, later.id), TEXT)
    const now = mock.method(second.running.services.node, 'now', () => Math.floor(Date.now() / 1000) + 3601)
    t.after(() => now.mock.restore())
    assert.notEqual(await readAt(later.there, later.id), TEXT)
  })

  it('is locked at all nodes by a change of its password, except for who changed it', async () => {
    const { here, there, id } = await opened()
    const reader = await second.signUp()
    await shareWith(here, id, reader, { permission: 'r' })
    await openEncrypted(reader, id)
    for (const client of [there, reader]) assert.equal(await readAt(client, id), TEXT)
    const form = { operation: 'change-password', old_password: PASSWORD, new_password: 'another one' }
    assert.equal((await here.put(`/api/v2.1/repos/${id}/set-password/`, { form })).status, 200)
    for (const client of [here, there]) assert.equal(await readAt(client, id), TEXT)
    for (const client of [reader, at(first, reader)]) assert.notEqual(await readAt(client, id), TEXT)
  })

  it('cannot be opened with the database and the server secret', async () => {
    const { here, id } = await opened()
    const { db } = first.running.services
    const [row] = await db.all<{ sealed_key: Uint8Array; name: string; nonce: Uint8Array }>(
      `select o.sealed_key, o.name, t.nonce from opened_library o join api_token t on t.key = o.api_token_key
       where o.library_id = ? and o.name = o.opened`,
      id,
    )
    assert.ok(row !== undefined)
    // What a token is derived from is gone, and its hash does not open the key.
    assert.equal(row.nonce.length, 0)
    const stored = await db.all<{ hash: Uint8Array }>('select hash from api_token')
    for (const { hash } of stored)
      assert.equal(openSealedKey(row.sealed_key, Buffer.from(hash).toString('hex'), row.name), undefined)
    // Signing in again gives another token, and the first one stays valid.
    const form = { username: here.email, password: 'a long password' }
    const again = await first.anonymous.post('/api2/auth-token/', { form })
    assert.equal(again.status, 200, again.text)
    assert.notEqual(again.body.token, here.token)
    const next = await first.anonymous.post('/api2/auth-token/', { form })
    assert.equal(next.body.token, again.body.token)
    assert.equal((await here.get('/api2/account/info/')).status, 200)
  })

  async function rows(id: string): Promise<object[]> {
    return first.running.services.db.all('select name from opened_library where library_id = ?', id)
  }
})
