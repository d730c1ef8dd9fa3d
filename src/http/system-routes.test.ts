import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { required } from './readers.ts'
import { route, serve } from './test-support.ts'

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
    const reply = await server.call('GET', '/metrics')
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

  it('/metrics is for this machine and for administrators', async () => {
    await using server = await serve([])
    const ask = async (headers: Record<string, string>) =>
      (await server.call('GET', '/metrics', { headers })).status
    const viaProxy = { 'x-forwarded-for': '127.0.0.1' }
    assert.equal(await ask({}), 200)
    assert.equal(await ask(viaProxy), 403)
    assert.equal(await ask({ via: '1.1 proxy' }), 403)
    assert.equal(await ask({ ...viaProxy, authorization: 'Token ann' }), 403)
    assert.equal(await ask({ ...viaProxy, authorization: 'Token root' }), 200)
  })
})
