import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { asAnn, route, serve, type TestServer } from '../../../test/support/http-server.ts'
import type { HttpRequest } from './request.ts'
import { type CallCounts, Throttle } from './throttle.ts'

const get = { method: 'GET', summary: 'A test.', handle: () => 'ok' } as const
const routes = [
  route({ ...get, path: '/sign-in', auth: 'none', limit: 'anonymous' }),
  route({ ...get, path: '/ping', auth: 'none', limit: 'ping' }),
  route({ ...get, path: '/open', auth: 'none', limit: 'user' }),
  route({ ...get, path: '/free', auth: 'none' }),
  route({ ...get, path: '/mine', auth: 'user' }),
  route({ ...get, path: '/mine-too', auth: 'user' }),
  route({ ...get, path: '/transfer', auth: 'none', limit: 'transfer' }),
  route({ ...get, path: '/dav', auth: 'user', limit: 'transfer' }),
]

/** Makes many calls on one connection and counts the allowed and the refused ones. */
async function callMany(
  server: TestServer,
  count: number,
  path: string,
  headers: Record<string, string> = {},
) {
  const lines = Object.entries({ host: 'a', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const calls = `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`.repeat(count - 1)
  const last = `GET ${path} HTTP/1.1\r\n${lines.join('')}connection: close\r\n\r\n`
  const replies = await server.send(calls + last)
  const statuses = Array.from(replies.matchAll(/HTTP\/1\.1 (\d+) /g), ([, status]) => status)
  assert.equal(statuses.length, count)
  return {
    allowed: statuses.filter((status) => status === '200').length,
    refused: statuses.filter((status) => status === '429').length,
  }
}

describe('the throttle', () => {
  it('allows 60 calls a minute to an address that signs in', async () => {
    const clock = { now: 1000 }
    await using server = await serve(routes, {
      rateLimit: { enabled: true, now: () => clock.now },
      trustedProxies: ['127.0.0.1'],
    })
    const signIn = (address: string) =>
      server.call('GET', '/sign-in', { headers: { 'x-forwarded-for': address } })
    const from = { 'x-forwarded-for': '203.0.113.9' }
    assert.deepEqual(await callMany(server, 70, '/sign-in', from), { allowed: 60, refused: 10 })
    const refused = await signIn('203.0.113.9')
    assert.equal(refused.text, '{"detail":"Request was throttled. Expected available in 61 seconds."}')
    assert.equal(refused.headers['retry-after'], '61')
    assert.equal((await signIn('203.0.113.10')).status, 200)
    assert.equal((await server.call('GET', '/ping')).status, 200)
    clock.now += 61
    assert.equal((await signIn('203.0.113.9')).status, 200)
  })

  it('allows 3000 calls a minute to an account, whatever it calls and from wherever', async () => {
    await using server = await serve(routes, { rateLimit: { enabled: true, now: () => 1000 } })
    assert.deepEqual(await callMany(server, 3010, '/mine', asAnn), { allowed: 3000, refused: 10 })
    assert.equal((await server.call('GET', '/mine-too', { headers: asAnn })).status, 429)
    assert.equal((await server.call('GET', '/mine', { headers: { authorization: 'Token ben' } })).status, 200)
    assert.equal((await server.call('GET', '/mine')).status, 403)
    assert.equal((await server.call('GET', '/open')).status, 200)
    assert.equal((await server.call('GET', '/free', { headers: asAnn })).status, 200)
  })

  it('counts transfers by account, or by address where there is none', async () => {
    const clock = { now: 1000 }
    const throttle = new Throttle({ enabled: true, now: () => clock.now })
    const request = { address: '203.0.113.9' } as HttpRequest
    const transfer = { limit: 'transfer', auth: 'none' } as const
    const dav = { limit: 'transfer', auth: 'webdav' } as const
    for (let count = 0; count < 120_000; count += 1) {
      throttle.byAddress(transfer, request)
      throttle.byAddress(dav, request)
      throttle.byAccount(dav, 'ann')
    }
    assert.throws(() => throttle.byAddress(transfer, request), /429/)
    throttle.byAddress(dav, request)
    assert.throws(() => throttle.byAccount(dav, 'ann'), /429/)
    throttle.byAccount(dav, 'ben')
  })

  it('bounds calls without a valid credential by address, before it is looked at', async () => {
    let lookups = 0
    await using server = await serve(routes, {
      rateLimit: { enabled: true, now: () => 1000 },
      trustedProxies: ['127.0.0.1'],
      authenticate: (token) => {
        lookups += 1
        return token === 'ann' ? { kind: 'user', user: { email: 'ann' } } : { kind: 'unknown' }
      },
    })
    const from = { 'x-forwarded-for': '203.0.113.9', authorization: 'Token wrong' }
    assert.deepEqual(await callMany(server, 6100, '/dav', from), { allowed: 0, refused: 100 })
    assert.equal(lookups, 6000)
    const other = { 'x-forwarded-for': '203.0.113.10', ...asAnn }
    assert.equal((await server.call('GET', '/dav', { headers: other })).status, 200)
  })

  it('counts calls at all processes, of clients near their limit only', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const published: CallCounts[] = []
    const told: Record<string, number> = {}
    const throttle = new Throttle({
      enabled: true,
      now: () => 1000,
      others: {
        exchange: async (own) => {
          published.push(own)
          return told
        },
        onError: assert.ifError,
      },
    })
    const call = (address: string) =>
      throttle.byAddress({ limit: 'anonymous', auth: 'none' }, { address } as HttpRequest)
    for (let count = 0; count < 7; count += 1) call('203.0.113.1')
    t.mock.timers.tick(1000)
    assert.deepEqual(published, [])
    for (let count = 0; count < 10; count += 1) call('203.0.113.2')
    told['anonymous 203.0.113.2'] = 45
    t.mock.timers.tick(1000)
    await nextTurn()
    assert.deepEqual(published, [{ 'anonymous 203.0.113.2': 10 }])
    for (let count = 0; count < 5; count += 1) call('203.0.113.2')
    assert.throws(() => call('203.0.113.2'), /429/)
    call('203.0.113.1')
    throttle[Symbol.dispose]()
  })

  it('allows nothing less when it is off', async () => {
    await using server = await serve(routes, { rateLimit: { enabled: false, now: () => 1000 } })
    assert.deepEqual(await callMany(server, 150, '/sign-in'), { allowed: 150, refused: 0 })
  })
})
