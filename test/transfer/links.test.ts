import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { makeReadOnly } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { postForm, uploadFile, uploadLink } from '../support/transfer.ts'

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

describe('upload and update links', () => {
  let server: TestServer
  let user: Client
  let library: string
  before(async () => {
    server = await startServer()
    user = await server.signUp()
    library = await user.createLibrary()
    await uploadFile(user, library, '/docs/ä b/a.txt', 'a')
  })
  after(() => server[Symbol.asyncDispose]())

  const good: [path: string, query: Record<string, string>, rest: string][] = [
    ['upload-link', {}, `upload-api/${UUID}`],
    ['upload-link', { p: '/docs' }, `upload-api/${UUID}`],
    ['upload-link', { p: '/docs/' }, `upload-api/${UUID}`],
    ['upload-link', { p: '/docs/ä b' }, `upload-api/${UUID}`],
    ['upload-link', { p: '/', from: 'api' }, `upload-api/${UUID}`],
    ['upload-link', { p: '/', from: 'web' }, `upload-aj/${UUID}`],
    ['upload-link', { replace: '1' }, `upload-api/${UUID}\\?replace=1`],
    ['upload-link', { replace: 'true' }, `upload-api/${UUID}\\?replace=1`],
    ['upload-link', { replace: '0' }, `upload-api/${UUID}`],
    ['upload-link', { replace: 'maybe' }, `upload-api/${UUID}`],
    ['upload-link', { replace: '1', from: 'web' }, `upload-aj/${UUID}`],
    ['update-link', {}, `update-api/${UUID}`],
    ['update-link', { p: '/docs' }, `update-api/${UUID}`],
    ['update-link', { p: '/docs', from: 'web' }, `update-aj/${UUID}`],
  ]
  for (const [path, query, rest] of good) {
    it(`${path} with ${JSON.stringify(query)} is a JSON string and nothing else`, async () => {
      for (const slash of ['/', '']) {
        const reply = await user.get(`/api2/repos/${library}/${path}${slash}`, query)
        assert.equal(reply.status, 200)
        assert.match(reply.text, new RegExp(`^"${server.url}/seafhttp/${rest}"$`))
      }
    })
  }

  const bad: [path: string, query: Record<string, string>, status: number, message: string][] = [
    ['upload-link', { p: '' }, 400, 'p invalid.'],
    ['upload-link', { p: '/none' }, 404, 'Folder /none not found.'],
    ['upload-link', { p: '/docs/ä b/a.txt' }, 404, 'Folder /docs/ä b/a.txt not found.'],
    ['upload-link', { p: '/docs/../docs' }, 404, 'Folder /docs/../docs not found.'],
    ['upload-link', { p: '/docs', from: 'app' }, 400, 'from invalid.'],
    ['upload-link', { p: '/none', from: 'app' }, 404, 'Folder /none not found.'],
    ['update-link', { p: '/none' }, 404, 'Folder /none not found.'],
    ['update-link', { from: 'x' }, 400, 'from invalid.'],
  ]
  for (const [path, query, status, message] of bad) {
    it(`${path} with ${JSON.stringify(query)} is rejected with ${status}`, async () => {
      const reply = await user.get(`/api2/repos/${library}/${path}/`, query)
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: message }])
    })
  }

  for (const path of ['upload-link', 'update-link']) {
    it(`${path} is rejected without access`, async () => {
      const none = '00000000-0000-4000-8000-000000000000'
      const missing = await user.get(`/api2/repos/${none}/${path}/`)
      assert.deepEqual([missing.status, missing.body], [404, { error_msg: `Library ${none} not found.` }])
      const stranger = await (await server.signUp()).get(`/api2/repos/${library}/${path}/`, { p: '/none' })
      const words = 'You do not have permission to access this folder.'
      assert.deepEqual([stranger.status, stranger.body], [403, { error_msg: words }])
      assert.equal((await server.anonymous.get(`/api2/repos/${library}/${path}/`)).status, 403)
    })

    it(`${path} is rejected for a read-only library`, async () => {
      const frozen = await user.createLibrary('Frozen')
      await makeReadOnly(server, frozen)
      const reply = await user.get(`/api2/repos/${frozen}/${path}/`)
      const words = 'You do not have permission to access this folder.'
      assert.deepEqual([reply.status, reply.body], [403, { error_msg: words }])
    })
  }

  it('begin with the public URL if one is set', async () => {
    await using other = await startServer({ env: { CARREL_PUBLIC_URL: 'https://files.example.org/x/' } })
    const client = await other.signUp()
    const id = await client.createLibrary()
    assert.match(await uploadLink(client, id), /^https:\/\/files\.example\.org\/x\/seafhttp\/upload-api\//)
  })
})

describe('links when the owner is out of quota', () => {
  for (const [setting, status] of [
    [undefined, 500],
    ['443', 443],
  ] as const) {
    it(`are rejected with ${status} if CARREL_QUOTA_STATUS is ${setting}`, async () => {
      await using server = await startServer({
        env: setting === undefined ? {} : { CARREL_QUOTA_STATUS: setting },
      })
      const user = await server.signUp()
      const library = await user.createLibrary()
      await uploadFile(user, library, '/a.bin', Buffer.alloc(2000))
      await server.running.services.accounts.update(user.email, { quota: 1500 }, undefined)
      const calls: [string, Record<string, string>][] = [
        [`/api2/repos/${library}/upload-link/`, { p: '/' }],
        [`/api2/repos/${library}/update-link/`, { p: '/' }],
        [`/api/v2.1/repos/${library}/file-uploaded-bytes/`, { parent_dir: '/', file_name: 'b' }],
      ]
      for (const [path, query] of calls) {
        const reply = await user.get(path, query)
        assert.deepEqual([reply.status, reply.body], [status, { error_msg: 'Out of quota.' }])
      }
      // The folder and the permission are checked first, the kind of link second.
      const missing = await user.get(`/api2/repos/${library}/upload-link/`, { p: '/none' })
      assert.equal(missing.status, 404)
      const odd = await user.get(`/api2/repos/${library}/upload-link/`, { from: 'x' })
      assert.equal(odd.status, status)
    })
  }
})

describe('the number of bytes stored of an upload', () => {
  let server: TestServer
  let user: Client
  let library: string
  before(async () => {
    server = await startServer()
    user = await server.signUp()
    library = await user.createLibrary()
  })
  after(() => server[Symbol.asyncDispose]())
  const ask = (query: Record<string, string>, client = user) =>
    client.get(`/api/v2.1/repos/${library}/file-uploaded-bytes/`, query)

  it('is 0 for an unknown upload, and announces that uploads can be resumed', async () => {
    const reply = await ask({ parent_dir: '/', file_name: 'a.bin' })
    assert.deepEqual([reply.status, reply.text], [200, '{"uploadedBytes":0}'])
    assert.equal(reply.headers.get('accept-ranges'), 'bytes')
  })

  it('is the number of bytes of the chunks, for their sender only', async () => {
    const link = await uploadLink(user, library)
    const headers = { 'Content-Range': 'bytes 0-4/9', 'Content-Disposition': 'attachment; filename="b.bin"' }
    const parts = [
      ['parent_dir', '/'] as const,
      ['relative_path', 'x/y'] as const,
      { filename: 'b', bytes: '01234' },
    ]
    assert.equal((await postForm(link, parts, { headers })).text, '{"success": true}')
    for (const folder of ['/x/y', '/x/y/', 'x/y']) {
      assert.deepEqual((await ask({ parent_dir: folder, file_name: 'b.bin' })).body, { uploadedBytes: 5 })
    }
    // The folder is created with the last chunk.
    assert.equal((await ask({ parent_dir: '/x/y', file_name: 'other.bin' })).status, 404)
    assert.equal((await ask({ parent_dir: '/x/y', file_name: 'b.bin' }, await server.signUp())).status, 403)
  })

  const bad: [query: Record<string, string>, status: number, message: string][] = [
    [{ file_name: 'a' }, 400, 'parent_dir invalid.'],
    [{ parent_dir: '', file_name: 'a' }, 400, 'parent_dir invalid.'],
    [{ parent_dir: '/' }, 400, 'file_name invalid.'],
    [{ parent_dir: '/none' }, 400, 'file_name invalid.'],
    [{ parent_dir: '/', file_name: '' }, 400, 'file_name invalid.'],
    [{ parent_dir: '/', file_name: 'a/b' }, 400, 'file_name invalid.'],
    [{ parent_dir: '/none', file_name: 'a' }, 404, 'Folder /none not found.'],
    [{ parent_dir: '/..', file_name: 'a' }, 404, 'Folder /.. not found.'],
  ]
  for (const [query, status, message] of bad) {
    it(`is rejected with ${status} for ${JSON.stringify(query)}`, async () => {
      const reply = await ask(query)
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: message }])
    })
  }

  it('is rejected without access and for a read-only library', async () => {
    const query = { parent_dir: '/', file_name: 'a' }
    const stranger = await ask(query, await server.signUp())
    assert.deepEqual([stranger.status, stranger.body], [403, { error_msg: 'Permission denied.' }])
    assert.equal((await ask(query, server.anonymous)).status, 403)
    const none = '00000000-0000-4000-8000-000000000000'
    const missing = await user.get(`/api/v2.1/repos/${none}/file-uploaded-bytes/`, query)
    assert.deepEqual([missing.status, missing.body], [404, { error_msg: `Library ${none} not found.` }])
    const frozen = await user.createLibrary('Frozen')
    await makeReadOnly(server, frozen)
    const reply = await user.get(`/api/v2.1/repos/${frozen}/file-uploaded-bytes/`, query)
    assert.deepEqual([reply.status, reply.body], [403, { error_msg: 'Permission denied.' }])
  })
})
