import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { filePart, intoRoot, postForm, uploadLink } from '../support/transfer.ts'

const ID = /^[0-9a-f]{40}$/

let server: TestServer
let user: Client
before(async () => {
  server = await startServer()
  user = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

describe('the progress of an upload', () => {
  it('is polled by an id, until it is done', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const reply = await postForm(link, [intoRoot, filePart('a.txt', 'hello'), filePart('b.txt', 'you')], {
      query: 'need_idx_progress=true&ret-json=1',
    })
    assert.equal(reply.status, 200)
    assert.match(reply.text, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    for (let asked = 0; asked < 2; asked += 1) {
      const progress = await server.anonymous.get('/seafhttp/idx_progress', { task_id: reply.text })
      const { ret_json: result, ...numbers } = progress.body
      assert.deepEqual([progress.status, numbers], [200, { indexed: 8, total: 8, status: 0 }])
      const items = JSON.parse(result)
      assert.deepEqual(
        items.map(({ name, size }: { name: string; size: number }) => [name, size]),
        [
          ['a.txt', 5],
          ['b.txt', 3],
        ],
      )
    }
  })

  it('is found by its id only', async () => {
    const ask = (query?: Record<string, string>) => server.anonymous.get('/seafhttp/idx_progress', query)
    for (const query of [undefined, { task_id: '' }]) {
      const reply = await ask(query)
      assert.deepEqual([reply.status, reply.body], [400, { error: 'task id not found' }])
    }
    for (const id of ['x', 'x\0', randomUUID()]) {
      const reply = await ask({ task_id: id })
      assert.deepEqual([reply.status, reply.body], [404, { error: 'Failed to get index progress' }])
    }
  })

  it('is not requested by a form part of that name, or by another value', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const part = await postForm(link, [intoRoot, ['need_idx_progress', 'true'], filePart('a')])
    const other = await postForm(link, [intoRoot, filePart('a')], { query: 'need_idx_progress=false' })
    assert.match(part.text, ID)
    assert.match(other.text, ID)
  })

  it('is dropped after an hour', async () => {
    let now = 1_800_000_000
    await using later = await startServer({ now: () => now })
    const client = await later.signUp()
    const link = await uploadLink(client, await client.createLibrary())
    const { text } = await postForm(link, [intoRoot, filePart('a')], { query: 'need_idx_progress=true' })
    now += 3599
    assert.equal((await later.anonymous.get('/seafhttp/idx_progress', { task_id: text })).status, 200)
    now += 2
    assert.equal((await later.anonymous.get('/seafhttp/idx_progress', { task_id: text })).status, 404)
  })
})
