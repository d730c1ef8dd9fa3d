import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'

describe('POST /api/v2.1/tool-calls/', () => {
  const path = '/api/v2.1/tool-calls/'
  let server: TestServer
  let ann: Client
  let mine: string
  before(async () => {
    server = await startServer()
    ann = await server.signUp()
    mine = await ann.createLibrary('Mine')
  })
  after(() => server[Symbol.asyncDispose]())

  const latest = async () => {
    const query = { action: 'tool-called', per_page: 1 }
    const { body } = await (await server.admin()).get('/api/v2.1/admin/audit-log/', query)
    const { actor, object_id, path: at, detail } = body.entries[0] ?? {}
    return [actor, object_id, at, detail?.tool, detail?.token]
  }

  it('records the tool with the account, the library, the path and the token', async () => {
    assert.equal((await ann.post(path, { form: { tool: 'search' } })).status, 200)
    assert.deepEqual(await latest(), [ann.email, ann.email, '', 'search', undefined])
    const token = await personalToken(ann, { permission: 'r', repo_id: mine })
    const form = { tool: 'read_file', repo_id: mine, path: '/a.txt' }
    assert.equal((await token.post(path, { form })).status, 200)
    assert.deepEqual(await latest(), [ann.email, mine, '/a.txt', 'read_file', token.id])
  })

  it('records nothing about libraries that the token does not reach, and no invalid input', async () => {
    const ben = await server.signUp()
    const his = await ben.createLibrary('His')
    const other = await ann.createLibrary('Other')
    const token = await personalToken(ann, { permission: 'rw', repo_id: mine })
    const uploading = await personalToken(ann, { permission: 'upload' })
    const before = await latest()
    const missing = '00000000-0000-4000-8000-000000000000'
    for (const [client, form, status] of [
      [ann, { tool: 'x', repo_id: his }, 403],
      [token, { tool: 'x', repo_id: other }, 403],
      [ann, { tool: 'x', repo_id: missing }, 404],
      [ann, { tool: 'x', repo_id: 'x' }, 400],
      [ann, { tool: '' }, 400],
      [ann, { tool: 'a b' }, 400],
      [ann, { tool: 'x'.repeat(65) }, 400],
      [uploading, { tool: 'x' }, 403],
    ] as const) {
      assert.equal((await client.post(path, { form })).status, status, JSON.stringify(form))
    }
    assert.deepEqual(await latest(), before)
  })
})
