import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { uploadFile } from '../support/transfer.ts'
import { type HttpServing, overHttp, removeFolders, serveHttp } from './support.ts'

describe('carrel mcp --http', () => {
  let server: TestServer
  let owner: Client
  let token: Client
  let endpoint: HttpServing
  before(async () => {
    server = await startServer()
    owner = await server.signUp()
    const library = await owner.createLibrary('Notes')
    await uploadFile(owner, library, '/a.txt', 'hello')
    token = await personalToken(owner, { permission: 'rw' })
    endpoint = await serveHttp(owner, ['--allow-host', 'mcp.example.org'])
  })
  after(async () => {
    await endpoint[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await removeFolders()
  })

  /** Sends a request with any `Host`, which `fetch` does not permit. */
  async function send(
    headers: Record<string, string>,
    { method = 'POST', path = '/mcp', body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' } = {},
  ): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
    const { port } = new URL(endpoint.url)
    const sent = request({ host: '127.0.0.1', port, method, path, headers: { ...usual(), ...headers } })
    sent.end(method === 'GET' ? undefined : body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
  }
  const usual = () => ({
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    Authorization: `Bearer ${token.token}`,
  })

  for (const era of ['legacy', 'auto'] as const) {
    it(`serves each request with its own token (${era})`, async () => {
      await using user = await overHttp(endpoint.url, token, era)
      assert.equal((await user.call('read_file', { library: 'Notes', path: '/a.txt' })).content, 'hello')
      const reader = await personalToken(owner, { permission: 'r' })
      await using reading = await overHttp(endpoint.url, reader, era)
      assert.match(
        await reading.fail('write_file', { library: 'Notes', path: `/${era}.txt`, content: '' }),
        /forbidden/,
      )
      await user.call('write_file', { library: 'Notes', path: `/${era}.txt`, content: 'x' })
      const other = await server.signUp()
      await using elsewhere = await overHttp(
        endpoint.url,
        await personalToken(other, { permission: 'rw' }),
        era,
      )
      assert.deepEqual((await elsewhere.call('list_libraries')).items, [])
    })
  }

  it('refuses a revoked token on the next tool call', async () => {
    const short = await personalToken(owner, { permission: 'r' })
    await using user = await overHttp(endpoint.url, short)
    await user.call('list_libraries')
    await owner.delete(`/api/v2.1/personal-tokens/${short.id}/`)
    assert.match(await user.fail('list_libraries'), /unauthorized/)
  })

  it('demands a token that is valid, limited and can read', async () => {
    const uploading = await personalToken(owner, { permission: 'upload' })
    for (const [authorization, status] of [
      ['', 401],
      ['Bearer', 401],
      ['Bearer short', 401],
      [`Token ${token.token}`, 401],
      [`Bearer ${'f'.repeat(40)}`, 401],
      [`Bearer ${owner.token}`, 403],
      [`Bearer ${uploading.token}`, 403],
    ] as const) {
      const reply = await send({ Authorization: authorization })
      assert.equal(reply.status, status, authorization.replace(/[0-9a-f]{40}/, '…'))
      assert.equal(reply.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined)
    }
  })

  it('refuses other hosts and the pages of other sites', async () => {
    for (const host of [
      'evil.example.org',
      'evil.example.org:8765',
      '169.254.169.254',
      'localhost.evil.org',
    ]) {
      assert.equal((await send({ Host: host })).status, 403, host)
    }
    for (const origin of ['https://evil.example.org', 'null', 'http://127.0.0.1.evil.org', 'file://']) {
      const reply = await send({ Origin: origin })
      assert.equal(reply.status, 403, origin)
      assert.equal(reply.headers['access-control-allow-origin'], undefined)
    }
    // The check comes before the token.
    assert.equal((await send({ Host: 'evil.example.org', Authorization: '' })).status, 403)
    assert.notEqual((await send({ Host: 'mcp.example.org' })).status, 403)
    assert.notEqual((await send({ Host: 'localhost:1' })).status, 403)
  })

  it('answers other paths, methods and bodies without failing', async () => {
    assert.equal((await send({}, { path: '/' })).status, 404)
    assert.equal((await send({}, { path: '//evil.example.org/mcp' })).status, 404)
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status } = await send({}, { method })
      assert.ok(status >= 400 && status < 500, `${method} ${status}`)
    }
    for (const body of ['', 'no json', '[]', '['.repeat(100_000), '"x"', '{"jsonrpc":"1.0"}']) {
      const { status } = await send({}, { body })
      assert.ok(status >= 200 && status < 500, `${body.slice(0, 10)} ${status}`)
    }
    assert.equal((await send({}, { body: `"${'x'.repeat(9_000_000)}"` })).status, 413)
    assert.equal((await send({ 'Content-Type': 'text/plain' })).status, 415)
    await using user = await overHttp(endpoint.url, token)
    await user.call('list_libraries')
  })

  it('runs a limited number of calls at a time', async () => {
    const batch = Array.from({ length: 100 }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'list_libraries', arguments: {} },
    }))
    const reply = await send({}, { body: JSON.stringify(batch) })
    assert.equal(reply.status, 200, reply.body)
    const refused = reply.body.match(/calls at a time/g)?.length ?? 0
    assert.ok(refused > 0 && refused < 100, `${refused}`)
    await using user = await overHttp(endpoint.url, token)
    await user.call('list_libraries')
  })

  it('ends with 0 on a signal', async () => {
    await using short = await serveHttp(owner)
    assert.equal(await short.stop(), 0)
  })
})
