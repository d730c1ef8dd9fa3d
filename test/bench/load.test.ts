import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { LoadError } from '../../bench/load/child-process.ts'
import { type RequestShape, requestText } from '../../bench/load/request-text.ts'
import { runLoad } from '../../bench/load/run-load.ts'
import { testCertificates } from '../support/test-certificates.ts'

async function underLoad(listener: RequestListener, request: RequestShape, hashed?: string) {
  await using server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { address: host, port } = server.address() as AddressInfo
  return await runLoad({
    host,
    port,
    connections: 4,
    requests: [requestText(request, host)],
    ...(hashed !== undefined && { hashed }),
    status: 200,
    warmUp: { count: 10 },
    measured: { count: 40 },
  })
}

describe('the load generator', () => {
  it('sends each number once, in the path and in the form', async () => {
    const seen: string[] = []
    const result = await underLoad(
      (request, response) => {
        void text(request).then((form) => {
          seen.push(`${request.url} ${form}`)
          return response.end('done')
        })
      },
      { method: 'POST', path: '/a-{n}?rest={n%10}', form: 'to=b-{n+1}' },
    )
    assert.equal(result.requests, 40)
    assert.equal(result.bytesPerResponse, 4)
    const expected = Array.from({ length: 50 }, (_, n) => {
      const digits = (number: number) => String(number).padStart(8, '0')
      return `/a-${digits(n)}?rest=${digits(n % 10)} to=b-${digits(n + 1)}`
    })
    assert.deepEqual(seen.sort(), expected)
  })

  it('names a body that another request has sent by its hash', async () => {
    const seen = new Set<string>()
    await underLoad(
      (request, response) => {
        seen.add(request.url ?? '')
        response.end()
      },
      { method: 'GET', path: '/blocks/{sha1}' },
      'content {n%3}',
    )
    const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')
    const expected = [0, 1, 2].map((n) => `/blocks/${sha1(`content 0000000${n}`)}`)
    assert.deepEqual([...seen].sort(), expected.sort())
  })

  it('sends and reads over TLS, if the certificate is trusted', async () => {
    const { certificate: cert, key } = testCertificates.one
    await using server = createSecureServer({ cert, key }, (_request, response) => void response.end('safe'))
    server.listen(0, 'localhost')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const requests = [requestText({ method: 'GET', path: '/' }, 'localhost')]
    const amounts = { connections: 2, warmUp: { count: 2 }, measured: { count: 10 } }
    const plan = { host: 'localhost', port, secure: true, requests, status: 200, ...amounts }
    await assert.rejects(runLoad(plan), /self-signed certificate/)
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-load-'))
    const file = path.join(folder, 'certificate.pem')
    await writeFile(file, cert)
    // Read by the load generator when it starts.
    process.env['NODE_EXTRA_CA_CERTS'] = file
    try {
      const result = await runLoad(plan)
      assert.deepEqual([result.requests, result.bytesPerResponse], [10, 4])
    } finally {
      delete process.env['NODE_EXTRA_CA_CERTS']
      await rm(folder, { recursive: true })
    }
  })

  it('reads a response that arrives in pieces', async () => {
    const result = await underLoad(
      (_request, response) => {
        response.writeHead(200, { 'Content-Length': 100_002 })
        response.flushHeaders()
        setImmediate(() => {
          response.write('x'.repeat(100_000))
          setImmediate(() => response.end('yz'))
        })
      },
      { method: 'GET', path: '/' },
    )
    assert.deepEqual([result.requests, result.bytesPerResponse], [40, 100_002])
  })

  it('reads a response in chunks, whose length is not announced', async () => {
    const result = await underLoad(
      (_request, response) => {
        response.write('x'.repeat(100_000))
        setImmediate(() => {
          response.write('y')
          setImmediate(() => response.end('z'.repeat(17)))
        })
      },
      { method: 'PROPFIND', path: '/' },
    )
    assert.deepEqual([result.requests, result.bytesPerResponse], [40, 100_018])
  })

  it('fails with the count and the text of undeclared responses', async () => {
    let count = 0
    const load = underLoad(
      (_request, response) => {
        response.statusCode = ++count % 10 === 0 ? 503 : 200
        response.end('too busy')
      },
      { method: 'GET', path: '/thing' },
    )
    const message = /^5 responses to GET \/thing were not 200, the first: 503 too busy/
    await assert.rejects(load, (error) => error instanceof LoadError && message.test(error.message))
  })

  it('applies the operators of a placeholder from left to right', async () => {
    const seen: string[] = []
    await underLoad(
      (request, response) => {
        seen.push(request.url ?? '')
        response.end()
      },
      { method: 'GET', path: '/{n*3%7*10+1}' },
    )
    const expected = Array.from(
      { length: 50 },
      (_, n) => `/${String(((n * 3) % 7) * 10 + 1).padStart(8, '0')}`,
    )
    assert.deepEqual(seen.sort(), expected.sort())
  })

  it('fails when a connection breaks', async () => {
    const load = underLoad((request) => request.socket.destroy(), { method: 'GET', path: '/' })
    await assert.rejects(
      load,
      (error) => error instanceof LoadError && /closed a connection|ECONNRESET/.test(error.message),
    )
  })
})
