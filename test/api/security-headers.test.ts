import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer, type TestServer } from '../support/server.ts'

// Calls every route of the server without credentials. The security headers do not depend on the response.

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

const isPage = (path: string) => /^\/(?:$|f\/|d\/|u\/d\/|app\/|pages\/|smart-link\/|api\/docs$)/.test(path)
const isShared = (path: string) => /^\/seafhttp\/(?!repo\/|protocol-version$|accessible-repos\/)/.test(path)
const isUpload = (path: string) => /^\/seafhttp\/(?:up(?:load|date)-|idx_progress)/.test(path)

const ids = {
  repo_id: '11111111-2222-4333-8444-555555555555',
  ticket: '11111111-2222-4333-8444-555555555555',
}

describe('every response', () => {
  it('has the security headers', async () => {
    let count = 0
    for (const { method, path } of server.running.endpoints) {
      if (path.includes('live-events')) continue
      const filled = path.replaceAll(/:(\w+)/g, (_, name) => ids[name as keyof typeof ids] ?? 'a'.repeat(20))
      const response = await fetch(server.url + filled, { method, redirect: 'manual' })
      await response.body?.cancel()
      const { headers } = response
      const what = `${method} ${path} ${response.status}`
      assert.equal(headers.get('x-content-type-options'), 'nosniff', what)
      assert.match(headers.get('referrer-policy') ?? '', /^(?:no-referrer|same-origin)$/, what)
      assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, what)
      // Once: a header that is sent twice is joined with a comma.
      assert.ok(!headers.get('content-security-policy')?.includes(','), what)
      const shared = isShared(path) ? 'cross-origin' : 'same-origin'
      assert.equal(headers.get('cross-origin-resource-policy'), shared, what)
      assert.equal(headers.get('access-control-allow-origin') === '*', isUpload(path), what)
      if (isPage(path)) {
        assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', what)
        assert.equal(headers.get('x-frame-options'), 'DENY', what)
        assert.match(headers.get('permissions-policy') ?? '', /camera=\(\).*microphone=\(\)/, what)
      } else {
        // Files of the web app are no documents.
        if (path === '/web/') assert.equal(headers.get('permissions-policy'), null, what)
        assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/, what)
      }
      count += 1
    }
    assert.ok(count > 200, `${count} routes`)
  })

  it('has them where there is no route, too', async () => {
    for (const [method, path] of [
      ['GET', '/nowhere'],
      ['PATCH', '/api2/ping/'],
      ['OPTIONS', '/api2/ping/'],
    ]) {
      const { headers } = await fetch(server.url + path, { method: method ?? 'GET' })
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
      assert.match(headers.get('content-security-policy') ?? '', /sandbox/, path)
    }
  })
})
