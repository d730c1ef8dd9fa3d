import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer, type TestServer } from '../support/server.ts'

describe('the API description', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  it('is sent to anyone, and has every call of the API', async () => {
    const reply = await server.anonymous.get('/api/openapi.json')
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.body.openapi, '3.1.0')
    const described = new Set(
      Object.entries<object>(reply.body.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
      ),
    )
    const calls = server.running.endpoints
      .filter(({ path }) => /^\/api(?:2|\/v2\.1)\//.test(path))
      .map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual(
      calls.filter((call) => !described.has(call)),
      [],
    )
  })

  it('is not sent again to a client that has it', async () => {
    const { headers } = await server.anonymous.get('/api/openapi.json')
    const again = await server.anonymous.call('GET', '/api/openapi.json', {
      headers: { 'If-None-Match': headers.get('etag') ?? '' },
    })
    assert.deepEqual([again.status, again.text], [304, ''])
  })

  it('is shown by a page without inline scripts, whose assets exist', async () => {
    for (const [address, root] of [
      ['/api/docs', '../'],
      ['/api/docs/', '../../'],
    ] as const) {
      const page = await server.anonymous.get(address)
      assert.equal(page.status, 200, page.text)
      assert.match(page.headers.get('content-security-policy') ?? '', /script-src 'self';/)
      assert.doesNotMatch(page.text, /<script(?![^>]*\bsrc=)/)
      const assets = [...page.text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, asset = '']) => asset)
      assert.ok(assets.length >= 5)
      for (const asset of assets) {
        assert.ok(asset.startsWith(root), asset)
        const { pathname } = new URL(asset, server.url + address)
        assert.equal((await server.anonymous.get(pathname)).status, 200, pathname)
      }
    }
  })
})
