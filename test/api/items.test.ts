import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'

describe('items by their paths', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  const find = async (client: Client, places: readonly (readonly [id: string, path: string])[]) => {
    const reply = await client.post('/api/v2.1/items/', {
      json: { repo_ids: places.map(([id]) => id), paths: places.map(([, path]) => path) },
    })
    assert.equal(reply.status, 200, reply.text)
    return reply.body.items as { repo_id: string; path: string; name: string; is_dir: boolean }[]
  }

  it('are those that exist, in the order of the request', async () => {
    const user = await server.signUp()
    const [first, second] = [await user.createLibrary('First'), await user.createLibrary('Second')]
    await uploadFile(user, first, '/docs/a.txt', 'a')
    const found = await find(user, [
      [second, '/'],
      [first, '/docs/a.txt'],
      [first, '/gone.txt'],
      [UNKNOWN, '/'],
      ['nonsense', '/'],
      [first, '/../a'],
      [first, '/docs/'],
    ])
    assert.deepEqual(
      found.map(({ repo_id, path, name, is_dir }) => [repo_id, path, name, is_dir]),
      [
        [second, '/', 'Second', true],
        [first, '/docs/a.txt', 'a.txt', false],
        [first, '/docs', 'docs', true],
      ],
    )
    await user.delete(`/api2/repos/${first}/file/?p=/docs/a.txt`)
    assert.deepEqual(await find(user, [[first, '/docs/a.txt']]), [])
    assert.deepEqual(await find(user, []), [])
  })

  it('are nothing without the right to read them, from the moment in which it ends', async () => {
    const [owner, reader] = [await server.signUp(), await server.signUp()]
    const library = await owner.createLibrary('Lent')
    await uploadFile(owner, library, '/a.txt', 'a')
    assert.deepEqual(await find(reader, [[library, '/a.txt']]), [])
    const share = { share_type: 'user', username: reader.email, permission: 'r' }
    await owner.put(`/api2/repos/${library}/dir/shared_items/?p=/`, { form: share })
    assert.equal((await find(reader, [[library, '/a.txt']])).length, 1)
    await owner.delete(
      `/api2/repos/${library}/dir/shared_items/?p=/&share_type=user&username=${encodeURIComponent(reader.email)}`,
    )
    assert.deepEqual(await find(reader, [[library, '/a.txt']]), [])
  })

  it('are refused if there are too many, or lists that do not match', async () => {
    const user = await server.signUp()
    const ask = (repo_ids: string[], paths: string[]) =>
      user.post('/api/v2.1/items/', { json: { repo_ids, paths } })
    const many = Array.from({ length: 201 }, () => UNKNOWN)
    assert.equal((await ask(many, many)).status, 400)
    assert.equal((await ask([UNKNOWN], [])).status, 400)
    assert.equal((await server.anonymous.post('/api/v2.1/items/')).status, 403)
  })
})
