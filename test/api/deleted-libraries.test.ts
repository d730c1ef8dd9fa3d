import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'

const URL = '/api/v2.1/deleted-repos/'
const NOT_THERE = { error_msg: 'Library does not exist in trash.' }
let clock = 1_754_000_000
let server: TestServer
before(async () => {
  server = await startServer({ now: () => clock })
})
after(() => server[Symbol.asyncDispose]())

async function deleted(client: Client, name = 'Plans'): Promise<string> {
  const id = await client.createLibrary(name)
  await contentOf(server, client, id).putFile('/a.txt', 120)
  await client.delete(`/api2/repos/${id}/`)
  return id
}
const idsOf = async (client: Client) =>
  (await client.get(URL)).body.map(({ repo_id }: { repo_id: string }) => repo_id)

describe('deleted libraries', () => {
  it('are listed with every field, latest deletion first', async () => {
    const ann = await server.signUp()
    assert.deepEqual((await ann.get(URL)).body, [])
    const first = await deleted(ann)
    clock += 60
    const second = await deleted(ann, 'Photos')
    assert.deepEqual(await idsOf(ann), [second, first])
    const { head_commit_id, ...rest } = (await ann.get(URL)).body[1]
    assert.match(head_commit_id, /^[0-9a-f]{40}$/)
    assert.deepEqual(rest, {
      repo_id: first,
      owner_email: ann.email,
      owner_name: ann.email.split('@')[0],
      owner_contact_email: ann.email,
      repo_name: 'Plans',
      org_id: -1,
      encrypted: false,
      del_time: '2025-07-31T22:13:20+00:00',
      size: 120,
    })
    const bob = await server.signUp()
    assert.deepEqual((await bob.get(URL)).body, [])
  })

  for (const encoding of ['form', 'multipart', 'json'] as const) {
    it(`are restored unchanged, without their devices (${encoding})`, async () => {
      const ann = await server.signUp()
      const id = await ann.createLibrary()
      await contentOf(server, ann, id).putFile('/a.txt', 120)
      const { token } = (await ann.get(`/api2/repos/${id}/download-info/`)).body
      const before = (await ann.get(`/api2/repos/${id}/`)).body
      await ann.delete(`/api2/repos/${id}/`)
      const reply = await ann.post(URL, { [encoding]: { repo_id: id } })
      assert.deepEqual([reply.status, reply.body], [200, { success: true }])
      assert.deepEqual((await ann.get(`/api2/repos/${id}/`)).body, before)
      assert.equal((await ann.get(`/api/v2.1/repos/${id}/history/`)).body.data.length, 2)
      assert.equal(await server.running.services.syncTokens.authenticate(token), undefined)
      assert.deepEqual(await idsOf(ann), [])
    })
  }

  it('are restored by their owner only', async () => {
    const ann = await server.signUp()
    const bob = await server.signUp()
    const id = await deleted(ann)
    const living = await ann.createLibrary()
    const rows: [who: Client, json: unknown, status: number, body: object][] = [
      [ann, {}, 400, { error_msg: 'repo_id can not be empty.' }],
      [ann, { repo_id: '' }, 400, { error_msg: 'repo_id can not be empty.' }],
      [ann, { repo_id: {} }, 400, { error_msg: 'repo_id can not be empty.' }],
      [ann, { repo_id: 'x' }, 400, NOT_THERE],
      [ann, { repo_id: '\u0000' }, 400, NOT_THERE],
      [ann, { repo_id: living }, 400, NOT_THERE],
      [ann, { repo_id: '00000000-0000-4000-8000-000000000000' }, 400, NOT_THERE],
      [bob, { repo_id: id }, 403, { error_msg: 'Permission denied.' }],
    ]
    for (const [who, json, status, body] of rows) {
      const reply = await who.post(URL, { json })
      assert.deepEqual([reply.status, reply.body], [status, body], JSON.stringify(json))
    }
    assert.deepEqual(await idsOf(ann), [id])
  })

  it('are purged one by one', async () => {
    const ann = await server.signUp()
    const bob = await server.signUp()
    const [first, second] = [await deleted(ann), await deleted(ann)]
    const denied = await bob.delete(`${URL}${first}/`)
    assert.deepEqual([denied.status, denied.body], [403, { error_msg: 'Permission denied.' }])
    const reply = await ann.delete(`${URL}${first}/`)
    assert.deepEqual([reply.status, reply.body], [200, { success: true }])
    assert.deepEqual(await idsOf(ann), [second])
    const again = await ann.delete(`${URL}${first}`)
    assert.deepEqual([again.status, again.body], [404, NOT_THERE])
    assert.deepEqual((await ann.post(URL, { form: { repo_id: first } })).body, NOT_THERE)
    const living = await ann.createLibrary()
    assert.equal((await ann.delete(`${URL}${living}/`)).status, 404)
    assert.equal((await ann.get(`/api2/repos/${living}/`)).status, 200)
  })

  it('are purged all at once, except those of others and those not deleted', async () => {
    const ann = await server.signUp()
    const bob = await server.signUp()
    const living = await ann.createLibrary()
    await deleted(ann)
    await deleted(ann)
    const bobs = await deleted(bob)
    for (let times = 0; times < 2; times++) {
      const reply = await ann.delete(URL)
      assert.deepEqual([reply.status, reply.body], [200, { success: true }])
    }
    assert.deepEqual(await idsOf(ann), [])
    assert.deepEqual(await idsOf(bob), [bobs])
    assert.equal((await ann.get(`/api2/repos/${living}/`)).status, 200)
  })

  it('are either restored or purged, never restored incompletely', async () => {
    const ann = await server.signUp()
    for (let round = 0; round < 5; round++) {
      const id = await deleted(ann)
      const [restored, purged] = await Promise.all([
        ann.post(URL, { form: { repo_id: id } }),
        ann.delete(URL),
      ])
      assert.equal(purged.status, 200)
      const detail = await ann.get(`/api2/repos/${id}/`)
      assert.equal(detail.status, restored.status === 200 ? 200 : 404)
      if (detail.status !== 200) continue
      assert.equal((await ann.get(`/api/v2.1/repos/${id}/history/`)).body.data.length, 2)
      assert.equal(
        (await ann.get(`/api/v2.1/repos/${id}/commits/${detail.body.head_commit_id}/dir/`)).status,
        200,
      )
    }
  })
})
