import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { at, Nodes } from '../support/nodes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import type { TestServer } from '../support/server.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false
const path = '/api/v2.1/device-authorization/'
const form = { client_id: 'carrel' }

const ascending = (one: number, other: number) => one - other

describe('a sign-in by a code at two nodes', { skip }, () => {
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

  const poll = (node: TestServer, device_code: string) =>
    node.anonymous.post(`${path}token/`, {
      form: { ...form, device_code, grant_type: 'urn:ietf:params:oauth:grant-type:device_code' },
    })

  it('begins at one, is confirmed at the other, and gives one of two concurrent polls the token', async () => {
    const user = await first.signUp()
    const { device_code, user_code } = (await first.anonymous.post(path, { form })).body
    const json = { user_code, name: 'laptop', permission: 'r' }
    assert.equal((await at(second, user).post(`${path}approve/`, { json })).status, 200)
    const replies = await Promise.all([first, second].map((node) => poll(node, device_code)))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(ascending), [200, 400])
    const token = replies.find(({ status }) => status === 200)?.body.access_token
    for (const node of [first, second]) {
      assert.equal((await new Client(node.url, token).get('/api2/account/info/')).status, 200)
    }
  })

  it('is decided once if both nodes are asked at the same instant', async () => {
    const user = await first.signUp()
    const { device_code, user_code } = (await second.anonymous.post(path, { form })).body
    const json = { user_code, name: 'laptop', permission: 'r' }
    const replies = await Promise.all([
      user.post(`${path}approve/`, { json }),
      at(second, user).post(`${path}deny/`, { json }),
    ])
    assert.deepEqual(replies.map(({ status }) => status).toSorted(ascending), [200, 404])
    const { status } = await poll(second, device_code)
    assert.equal(status, replies[0]?.status === 200 ? 200 : 400)
  })

  it('counts open requests of all nodes together', async () => {
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, count) =>
        (count % 2 === 0 ? first : second).anonymous.post(path, { form }),
      ),
    )
    const { db } = first.running.services
    const [row] = await db.all<{ count: number }>('select count(*) as count from device_authorization')
    assert.equal(row?.count, 20)
    assert.equal(replies.filter(({ status }) => status === 200).length <= 20, true)
    assert.ok(replies.every(({ status }) => status === 200 || status === 429))
  })
})
