import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { deleteUncommittedBefore } from '../../src/libraries/push/uncommitted-store.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { makeTree, packets, SyncClient, sha1 } from '../support/sync-client.ts'
import { postForm } from '../support/transfer.ts'

const MB = 1_000_000

const setQuota = (server: TestServer, user: Client, quota: number) =>
  server.running.services.accounts.update(user.email, { quota }, undefined)

async function linked(server: TestServer, quota?: number) {
  const user = await server.signUp()
  const library = await user.createLibrary()
  if (quota !== undefined) await setQuota(server, user, quota)
  return { user, library, client: await SyncClient.link(user, library) }
}

async function putBlock(client: SyncClient, bytes: Buffer): Promise<number> {
  const { status, text } = await client.call('PUT', `block/${sha1(bytes)}`, bytes)
  if (status !== 200) assert.deepEqual([status, text], [443, 'Out of quota'])
  return status
}

const fresh = (size: number) => randomBytes(size)

describe('uncommitted blocks and objects', () => {
  it('are limited by the quota: blocks', async () => {
    await using server = await startServer()
    const { client } = await linked(server, 2 * MB)
    const statuses: number[] = []
    for (let count = 0; count < 10; count++) statuses.push(await putBlock(client, fresh(0.5 * MB)))
    assert.deepEqual(statuses, [...Array(4).fill(200), ...Array(6).fill(443)])
    // Concurrent uploads do not exceed it either.
    const together = await Promise.all(Array.from({ length: 10 }, () => putBlock(client, fresh(0.1 * MB))))
    assert.ok(together.every((status) => status === 443))
  })

  it('are limited by the allowance: objects and commits', async () => {
    await using server = await startServer({ env: { CARREL_MAX_UNFINISHED_MB: '1' } })
    const { user, client } = await linked(server)
    const head = await client.head()
    const send = async () => {
      const names = Array.from({ length: 2000 }, () => [randomBytes(20).toString('hex'), ''] as const)
      const { objects } = makeTree(Object.fromEntries(names), user.email)
      return (await client.call('POST', 'recv-fs/', packets(objects))).status
    }
    const statuses: number[] = []
    while (statuses.at(-1) !== 443 && statuses.length < 100) statuses.push(await send())
    assert.equal(statuses.at(-1), 443)
    assert.ok(statuses.length > 3)
    const commit = client.makeCommit('0'.repeat(40), head, { description: 'x'.repeat(900_000) })
    assert.equal((await client.putCommit(commit)).status, 443)
    const other = await linked(server)
    const before = await other.client.head()
    const large = () =>
      other.client.putCommit(
        other.client.makeCommit('0'.repeat(40), before, {
          commit_id: randomBytes(20).toString('hex'),
          description: 'x'.repeat(400_000),
        }),
      )
    assert.deepEqual(
      [(await large()).status, (await large()).status, (await large()).status],
      [200, 200, 443],
    )
  })

  it('are released by a commit that refers to them, and not by a rejected push', async () => {
    await using server = await startServer()
    const { user, library, client } = await linked(server, MB)
    const [old, large] = [fresh(0.6 * MB), fresh(0.8 * MB)]
    const first = await client.push({ 'old.bin': old })
    assert.equal(await putBlock(client, fresh(0.1 * MB)), 200)
    const sent = await client.send({ 'old.bin': old, 'large.bin': large }, first)
    assert.equal((await client.putHead(sent)).status, 443)
    // 0.9 MB are uncommitted.
    assert.equal(await putBlock(client, fresh(0.2 * MB)), 443)
    const removed = await user.delete(`/api2/repos/${library}/file/`, { query: { p: '/old.bin' } })
    assert.equal(removed.status, 200)
    const again = await client.putHead(sent)
    assert.equal(again.status, 200, again.text)
    assert.equal(await putBlock(client, fresh(0.8 * MB)), 200)
  })

  it('do not keep a full library from being changed', async () => {
    await using server = await startServer()
    const { client } = await linked(server, MB)
    let head = await client.push({ 'a.bin': fresh(0.9 * MB) })
    for (let times = 0; times < 4; times++) head = await client.push({ 'a.bin': fresh(0.9 * MB) }, head)
  })

  it('are limited to half the allowance for accounts other than the owner', async () => {
    await using server = await startServer()
    const { user, library, client } = await linked(server, 2 * MB)
    const member = await server.signUp()
    const form = { share_type: 'user', username: member.email, permission: 'rw' }
    const shared = await user.put(`/api2/repos/${library}/dir/shared_items/`, { query: { p: '/' }, form })
    assert.equal(shared.status, 200, shared.text)
    const theirs = await SyncClient.link(member, library)
    assert.equal(await putBlock(theirs, fresh(0.6 * MB)), 200)
    assert.equal(await putBlock(theirs, fresh(0.6 * MB)), 443)
    assert.equal(await putBlock(client, fresh(0.9 * MB)), 200)
  })

  it('are limited for blocks uploaded through the web API', async () => {
    await using server = await startServer()
    const { user, library } = await linked(server, 2 * MB)
    const send = async (bytes: Buffer) => {
      const body = { form: { blklist: sha1(bytes) } }
      const links = await user.post(`/api2/repos/${library}/upload-blks-link/`, {
        query: { p: '/' },
        ...body,
      })
      assert.equal(links.status, 200, links.text)
      const reply = await postForm(links.body.rawblksurl, [{ filename: sha1(bytes), bytes }])
      return { status: reply.status, commit: links.body.commiturl as string }
    }
    const block = fresh(0.8 * MB)
    const { status, commit } = await send(block)
    assert.equal(status, 200)
    assert.equal((await send(fresh(0.8 * MB))).status, 200)
    assert.equal((await send(fresh(0.8 * MB))).status, 443)
    const made = await postForm(commit, [
      ['parent_dir', '/'],
      ['file_name', 'a.bin'],
      ['file_size', String(block.length)],
      ['blockids', JSON.stringify([sha1(block)])],
    ])
    assert.equal(made.status, 200, made.text)
    assert.equal((await send(fresh(0.8 * MB))).status, 200)
  })

  it('count for a week', async () => {
    let now = 1_800_000_000
    await using server = await startServer({ now: () => now })
    const { client } = await linked(server, MB)
    assert.equal(await putBlock(client, fresh(0.9 * MB)), 200)
    assert.equal(await putBlock(client, fresh(0.9 * MB)), 443)
    now += 7 * 86_400 + 1
    await deleteUncommittedBefore(server.running.services.db, now - 7 * 86_400)
    assert.equal(await putBlock(client, fresh(0.9 * MB)), 200)
  })
})
