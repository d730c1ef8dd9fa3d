import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { route, serve } from '../../../test/support/http-server.ts'
import { required } from '../input/readers.ts'

const item = route({
  method: 'GET',
  path: '/items/:id/',
  auth: 'none',
  summary: 'Shows an item.',
  params: { id: required() },
  handle: ({ params }) => params.id,
})

describe('what operators ask', () => {
  it('/healthz says that the process is alive', async () => {
    await using server = await serve([])
    const reply = await server.call('GET', '/healthz')
    assert.deepEqual([reply.status, reply.text], [200, '{"status":"ok"}'])
  })

  it('/readyz says whether it can serve', async () => {
    let ok = true
    const ready = () => Promise.resolve({ ok, checks: { database: ok ? 'ok' : 'gone' } })
    await using server = await serve([], { ready })
    const first = await server.call('GET', '/readyz')
    assert.deepEqual([first.status, first.text], [200, '{"status":"ok","checks":{"database":"ok"}}'])
    ok = false
    const second = await server.call('GET', '/readyz')
    assert.deepEqual(
      [second.status, second.text],
      [503, '{"status":"unavailable","checks":{"database":"gone"}}'],
    )
  })

  it('/metrics counts requests by route and class of status, never by path', async () => {
    await using server = await serve([item])
    await server.call('GET', '/items/private')
    await server.call('GET', '/items/other')
    await server.call('PUT', '/items/other')
    await server.call('GET', '/nowhere/at/all')
    const reply = await server.call('GET', '/metrics', { headers: { authorization: 'Token root' } })
    assert.match(String(reply.headers['content-type']), /^text\/plain; version=0\.0\.4/)
    assert.match(
      reply.text,
      /^carrel_http_requests_total\{route="\/items\/:id\/",method="GET",status="2xx"\} 2$/m,
    )
    assert.match(reply.text, /^carrel_http_requests_total\{route="unknown",method="GET",status="4xx"\} 1$/m)
    assert.match(
      reply.text,
      /^carrel_http_request_seconds_count\{route="\/items\/:id\/",method="GET",status="2xx"\} 2$/m,
    )
    assert.match(reply.text, /^carrel_http_requests_in_flight 1$/m)
    assert.doesNotMatch(reply.text, /private|nowhere/)
  })

  it('/metrics is for administrators, wherever the request comes from', async () => {
    await using server = await serve([])
    const ask = async (headers: Record<string, string>) =>
      (await server.call('GET', '/metrics', { headers })).status
    // Like a proxy on this machine that adds no header.
    assert.equal(await ask({}), 403)
    assert.equal(await ask({ 'x-forwarded-for': '127.0.0.1' }), 403)
    assert.equal(await ask({ authorization: 'Token ann' }), 403)
    assert.equal(await ask({ authorization: 'Token root' }), 200)
  })

  it('/metrics is for who shows its token, too, which opens nothing else', async () => {
    const metricsToken = 'a-token-for-prometheus'
    const secret = route({
      method: 'GET',
      path: '/secret',
      auth: 'admin',
      summary: 'For administrators.',
      handle: () => 'secret',
    })
    await using server = await serve([secret], { metricsToken })
    const ask = async (path: string, authorization: string) =>
      (await server.call('GET', path, { headers: { authorization } })).status
    assert.equal(await ask('/metrics', `Bearer ${metricsToken}`), 200)
    assert.equal(await ask('/metrics', `Token ${metricsToken}`), 200)
    assert.equal(await ask('/metrics', `Bearer ${metricsToken}x`), 401)
    assert.equal(await ask('/metrics', 'Bearer'), 401)
    assert.equal(await ask('/secret', `Bearer ${metricsToken}`), 401)
  })
})

describe('/.well-known/security.txt', () => {
  const path = '/.well-known/security.txt'

  it('says whom to tell of a vulnerability, and until when that holds', async () => {
    const now = () => Date.UTC(2026, 0, 31, 12, 4, 5) / 1000
    const securityContact = 'mailto:security@example.org'
    const publicUrl = 'https://files.example.org'
    await using server = await serve([], { securityContact, publicUrl, rateLimit: { enabled: true, now } })
    const reply = await server.call('GET', path)
    assert.equal(reply.status, 200)
    assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(
      reply.text,
      [
        'Contact: mailto:security@example.org',
        'Expires: 2026-07-30T00:00:00Z',
        'Canonical: https://files.example.org/.well-known/security.txt',
        'Preferred-Languages: en',
        '',
      ].join('\n'),
    )
  })

  it('is not there where the operator named nobody', async () => {
    await using server = await serve([])
    assert.equal((await server.call('GET', path)).status, 404)
  })
})
