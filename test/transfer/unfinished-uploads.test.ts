import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { Workspace } from '../api/folders-support.ts'
import { uploadLinkTo } from '../api/links-support.ts'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { intoRoot, namesIn, postForm, uploadFile, uploadLink } from '../support/transfer.ts'

const MB = 1_000_000
const TAKEN = 200
const outOfQuota = [443, { error: 'Out of quota.' }]

/** The first bytes of a file of `total`. */
function begin(link: string, name: string, bytes: number, total: number, from = 0): Promise<Reply> {
  return postForm(link, [intoRoot, { filename: name, bytes: Buffer.alloc(bytes, 7) }], {
    headers: {
      'Content-Range': `bytes ${from}-${from + bytes - 1}/${total}`,
      'Content-Disposition': `attachment; filename="${name}"`,
    },
  })
}

/** Bytes in the blocks of unfinished uploads. */
async function stagedBytes(server: TestServer): Promise<number> {
  const row = await server.running.services.db.get<{ n: number | null }>(
    'select sum(length) as n from staged_block',
  )
  return row?.n ?? 0
}

/** The URL of a link for a visitor without an account. */
async function visitorLink(server: TestServer, space: Workspace): Promise<string> {
  const { token } = await uploadLinkTo(space, '/')
  const reply = await server.anonymous.get(`/api/v2.1/upload-links/${token}/upload/`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.upload_link
}

const setQuota = (server: TestServer, user: Client, quota: number) =>
  server.running.services.accounts.update(user.email, { quota }, undefined)

async function shareWith(space: Workspace, member: Client): Promise<void> {
  const form = { share_type: 'user', username: member.email, permission: 'rw' }
  const reply = await space.client.put(`/api2/repos/${space.id}/dir/shared_items/`, {
    query: { p: '/' },
    form,
  })
  assert.equal(reply.status, 200, reply.text)
}

describe('unfinished uploads', () => {
  it('count as used space', async () => {
    await using server = await startServer()
    const space = await Workspace.make(server)
    const link = await uploadLink(space.client, space.id)
    await setQuota(server, space.client, 2 * MB)
    const statuses: number[] = []
    for (let count = 0; count < 20; count++) {
      statuses.push((await begin(link, `${count}.bin`, 1.5 * MB, 1.6 * MB)).status)
    }
    assert.deepEqual(statuses, [TAKEN, ...Array.from({ length: 19 }, () => 443)])
    assert.equal(await stagedBytes(server), 1.5 * MB)
    const whole = await postForm(link, [intoRoot, { filename: 'whole', bytes: Buffer.alloc(0.6 * MB) }])
    assert.deepEqual([whole.status, whole.body], outOfQuota)
    // The rest of the started one fits, and so does a restart of it.
    assert.equal((await begin(link, '0.bin', 1.5 * MB, 1.6 * MB)).status, TAKEN)
    assert.equal((await begin(link, '0.bin', 0.1 * MB, 1.6 * MB, 1.5 * MB)).status, 200)
    assert.deepEqual(await namesIn(space.client, space.id), ['0.bin'])
    assert.equal(await stagedBytes(server), 0)
  })

  it('of link visitors are limited to half of the remaining space', async () => {
    await using server = await startServer()
    const space = await Workspace.make(server)
    const link = await visitorLink(server, space)
    await setQuota(server, space.client, 2 * MB)
    assert.equal((await begin(link, 'large.bin', 1.5 * MB, 1.6 * MB)).status, 443)
    const replies: Reply[] = []
    for (let count = 0; count < 20; count++)
      replies.push(await begin(link, `${count}.bin`, 0.15 * MB, 0.2 * MB))
    const taken = replies.filter(({ status }) => status === TAKEN)
    assert.deepEqual([replies.at(-1)?.status, replies.at(-1)?.body], outOfQuota)
    assert.ok(taken.length >= 5)
    assert.ok((await stagedBytes(server)) <= MB)
    // The owner may use the whole quota.
    await uploadFile(space.client, space.id, '/mine.bin', Buffer.alloc(1.9 * MB, 1))
    assert.equal(await stagedBytes(server), 0)
    const cut = await begin(link, '0.bin', 0.05 * MB, 0.2 * MB, 0.15 * MB)
    assert.ok(cut.status === 400 || cut.status === 443, cut.text)
  })

  it('of other accounts are evicted for the owner', async () => {
    await using server = await startServer()
    const space = await Workspace.make(server)
    const member = await server.signUp()
    await shareWith(space, member)
    await setQuota(server, space.client, 2 * MB)
    const theirs = await uploadLink(member, space.id)
    assert.equal((await begin(theirs, 'theirs.bin', 1.8 * MB, 1.9 * MB)).status, TAKEN)
    assert.equal(
      (await postForm(theirs, [intoRoot, { filename: 'b', bytes: Buffer.alloc(0.4 * MB) }])).status,
      443,
    )
    await uploadFile(space.client, space.id, '/mine.bin', Buffer.alloc(1.5 * MB, 1))
    assert.equal(await stagedBytes(server), 0)
    assert.equal((await begin(theirs, 'theirs.bin', 0.1 * MB, 1.9 * MB, 1.8 * MB)).status, 400)
  })

  it('expire when idle: those of visitors soon, others when the owner needs the space', async () => {
    let now = 1_800_000_000
    await using server = await startServer({ now: () => now, env: { CARREL_TICKET_SECONDS: '100000' } })
    const space = await Workspace.make(server)
    const [visitor, own] = [await visitorLink(server, space), await uploadLink(space.client, space.id)]
    await setQuota(server, space.client, 2 * MB)
    assert.equal((await begin(visitor, 'a.bin', 0.8 * MB, 0.9 * MB)).status, TAKEN)
    assert.equal((await begin(visitor, 'b.bin', 0.8 * MB, 0.9 * MB)).status, 443)
    now += 601
    assert.equal((await begin(visitor, 'b.bin', 0.8 * MB, 0.9 * MB)).status, TAKEN)
    assert.equal(await stagedBytes(server), 0.8 * MB)
    now += 601
    await server.running.services.quotas.deleteExpiredUploads()
    assert.equal(await stagedBytes(server), 0)

    assert.equal((await begin(own, 'mine.bin', 1.5 * MB, 1.6 * MB)).status, TAKEN)
    const whole = () => postForm(own, [intoRoot, { filename: 'whole.bin', bytes: Buffer.alloc(MB) }])
    assert.equal((await whole()).status, 443)
    now += 3500
    assert.equal((await whole()).status, 443)
    now += 101
    assert.equal((await whole()).status, 200)
    assert.equal(await stagedBytes(server), 0)
  })

  it('have an allowance if there is no quota', async () => {
    const env = { CARREL_MAX_UNFINISHED_MB: '2', CARREL_MAX_LINK_UNFINISHED_MB: '1' }
    await using server = await startServer({ env })
    const space = await Workspace.make(server)
    const [visitor, own] = [await visitorLink(server, space), await uploadLink(space.client, space.id)]
    const attempt = async (link: string, name: string) => (await begin(link, name, 0.6 * MB, 9 * MB)).status
    assert.deepEqual([await attempt(visitor, 'a'), await attempt(visitor, 'b')], [TAKEN, 443])
    assert.deepEqual(
      [await attempt(own, 'c'), await attempt(own, 'd'), await attempt(own, 'e')],
      [TAKEN, TAKEN, 443],
    )
    assert.equal(await stagedBytes(server), 1.8 * MB)
    // Finished uploads do not count.
    await uploadFile(space.client, space.id, '/whole.bin', Buffer.alloc(3 * MB))
  })

  it('are limited in number per link', async () => {
    await using server = await startServer()
    const space = await Workspace.make(server)
    const link = await visitorLink(server, space)
    const replies = await Promise.all(
      Array.from({ length: 105 }, (_, count) => begin(link, `${count}.bin`, 1, 2)),
    )
    const refused = replies.filter(({ status }) => status !== TAKEN)
    assert.equal(refused.length, 5)
    for (const { status, body, headers } of refused) {
      assert.deepEqual([status, body], [429, { error: 'Too many unfinished uploads.' }])
      assert.equal(headers.get('retry-after'), '600')
    }
  })

  it("of a visitor and of the link's creator are independent", async () => {
    await using server = await startServer()
    const space = await Workspace.make(server)
    const [visitor, own] = [await visitorLink(server, space), await uploadLink(space.client, space.id)]
    assert.equal((await begin(own, 'a.bin', 4, 6)).status, TAKEN)
    assert.equal((await begin(visitor, 'a.bin', 2, 6)).status, TAKEN)
    const query = { parent_dir: '/', file_name: 'a.bin' }
    const stored = await space.client.get(`/api/v2.1/repos/${space.id}/file-uploaded-bytes/`, query)
    assert.equal(stored.body.uploadedBytes, 4)
    assert.equal((await begin(visitor, 'a.bin', 2, 6, 4)).status, 400)
    assert.equal((await begin(own, 'a.bin', 2, 6, 4)).status, 200)
  })

  for (const status of [500, 443]) {
    it(`that fill the quota make link calls return ${status}`, async () => {
      const env: Record<string, string> = status === 500 ? {} : { CARREL_QUOTA_STATUS: '443' }
      await using server = await startServer({ env })
      const space = await Workspace.make(server)
      const link = await uploadLink(space.client, space.id)
      const { token } = await uploadLinkTo(space, '/')
      await setQuota(server, space.client, MB)
      assert.equal((await begin(link, 'a.bin', 999_990, 999_999)).status, TAKEN)
      await setQuota(server, space.client, 999_990)
      const query = { parent_dir: '/', file_name: 'a.bin' }
      const calls = [
        await space.client.get(`/api2/repos/${space.id}/upload-link/`, { p: '/' }),
        await space.client.get(`/api2/repos/${space.id}/update-link/`, { p: '/' }),
        await space.client.get(`/api/v2.1/repos/${space.id}/file-uploaded-bytes/`, query),
      ]
      for (const reply of calls) {
        assert.deepEqual([reply.status, reply.body], [status, { error_msg: 'Out of quota.' }])
      }
      const visit = await server.anonymous.get(`/api/v2.1/upload-links/${token}/upload/`)
      assert.equal(visit.status, 443)
    })
  }

  it('leave no blocks when their rows are deleted', async () => {
    let now = 1_800_000_000
    await using server = await startServer({ now: () => now, env: { CARREL_GC_GRACE_SECONDS: '0' } })
    const space = await Workspace.make(server)
    const { core, gc } = server.running.services
    const blocks = async () => {
      const folder = path.join(server.data, 'blocks')
      const names = await readdir(folder, { recursive: true, withFileTypes: true })
      const small = await dbOf(core).all('select id from small_block')
      const isBlock = /^[0-9a-f]{38}$/
      return names.filter(({ name }) => isBlock.test(name)).length + small.length
    }
    const link = await uploadLink(space.client, space.id)
    for (const size of [4, 0.1 * MB]) {
      assert.equal((await begin(link, `${size}.bin`, size, MB)).status, TAKEN)
    }
    const collect = async () => {
      for (let run = 0; run < 4; run += 1) {
        await gc.runOnce()
        now += 1000
      }
    }
    await collect()
    assert.equal(await blocks(), 2)
    await dbOf(core).write((tx) => tx.run('delete from partial_upload'))
    assert.equal(await stagedBytes(server), 0)
    await collect()
    assert.equal(await blocks(), 0)
  })
})
