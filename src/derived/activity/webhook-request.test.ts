import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { postWebhook, systemNetwork, type WebhookNetwork, WebhookUnreachable } from './webhook-request.ts'

let server: Server
let port = 0
let listener: RequestListener
before(async () => {
  server = createServer((request, response) => listener(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
after(() => {
  server.closeAllConnections()
  server.close()
})

const never = new AbortController().signal
const open: WebhookNetwork = {
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  isAllowed: () => true,
  timeoutMs: 5000,
}
const post = (network: WebhookNetwork, url: string, stop = never) =>
  postWebhook(network, new URL(url), '{"a":1}', { 'X-One': 'two' }, stop)

describe('calling a receiver', () => {
  it('posts the body to the host by name', async () => {
    const seen: unknown[] = []
    listener = (request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += String(chunk)
      })
      request.on('end', () => {
        seen.push(request.method, request.url, request.headers.host, request.headers['x-one'], body)
        response.end('thanks')
      })
    }
    const answer = await post(open, `http://hook.example.org:${port}/a?b=c`)
    assert.deepEqual(answer, { status: 200, text: 'thanks' })
    assert.deepEqual(seen, ['POST', '/a?b=c', `hook.example.org:${port}`, 'two', '{"a":1}'])
  })

  it('looks a name up once and goes where it was checked, whatever the name means a moment later', async () => {
    listener = (_request, response) => response.end('here')
    const answers = ['127.0.0.1', '127.0.0.2', '10.0.0.1']
    let lookups = 0
    const checked: string[] = []
    const network: WebhookNetwork = {
      ...open,
      resolve: async () => [{ address: answers[lookups++] ?? '', family: 4 }],
      isAllowed: (address) => {
        checked.push(address)
        return address === '127.0.0.1'
      },
    }
    assert.equal((await post(network, `http://rebinding.example.org:${port}/`)).text, 'here')
    assert.deepEqual([lookups, checked], [1, ['127.0.0.1']])
    await assert.rejects(post(network, `http://rebinding.example.org:${port}/`), /is private/)
  })

  it('calls nothing if any of the addresses is not allowed', async () => {
    listener = () => assert.fail('it was called')
    const mixed: WebhookNetwork = {
      ...systemNetwork(false),
      resolve: async () => [
        { address: '8.8.8.8', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    }
    await assert.rejects(post(mixed, `http://mixed.example.org:${port}/`), /is private/)
    await assert.rejects(post(systemNetwork(false), `http://127.0.0.1:${port}/`), /is private/)
    await assert.rejects(post(systemNetwork(false), `http://[::1]:${port}/`), /is private/)
    await assert.rejects(post(systemNetwork(false), `http://localhost:${port}/`), /is private/)
    await assert.rejects(post({ ...open, resolve: async () => [] }, 'http://none.example.org/'), /no address/)
  })

  it('does not follow a redirect', async () => {
    let calls = 0
    listener = (_request, response) => {
      calls++
      response.writeHead(302, { Location: `http://127.0.0.1:${port}/elsewhere` }).end()
    }
    assert.equal((await post(open, `http://a.example.org:${port}/`)).status, 302)
    assert.equal(calls, 1)
  })

  it('keeps the beginning of an answer that does not end', async () => {
    listener = (_request, response) => {
      response.writeHead(200)
      const more = () => {
        while (response.write('\u0000x'.repeat(5000)));
      }
      response.on('drain', more)
      more()
    }
    const { status, text } = await post(open, `http://a.example.org:${port}/`)
    assert.deepEqual([status, text], [200, 'x'.repeat(512)])
  })

  it('gives up on a receiver, or a name, that takes too long', async () => {
    listener = () => {}
    const hasty = { ...open, timeoutMs: 50 }
    await assert.rejects(post(hasty, `http://a.example.org:${port}/`), /took too long/)
    const slowName: WebhookNetwork = { ...hasty, resolve: () => new Promise(() => {}) }
    await assert.rejects(post(slowName, `http://a.example.org:${port}/`), /took too long/)
  })

  it('takes the status of an answer whose body never comes', async () => {
    listener = (_request, response) => response.writeHead(204).flushHeaders()
    assert.equal((await post({ ...open, timeoutMs: 300 }, `http://a.example.org:${port}/`)).status, 204)
    listener = (_request, response) => {
      response.writeHead(200, { 'Content-Length': 100 })
      response.write('slow')
    }
    const answer = await post({ ...open, timeoutMs: 300 }, `http://a.example.org:${port}/`)
    assert.deepEqual(answer, { status: 200, text: 'slow' })
  })

  it('says in words what went wrong', async () => {
    listener = (request) => request.destroy()
    await assert.rejects(post(open, `http://a.example.org:${port}/`), /closed the connection/)
    const unknown = {
      ...open,
      resolve: async () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    }
    await assert.rejects(post(unknown, 'http://a.example.org/'), WebhookUnreachable)
    await assert.rejects(post(open, 'http://a.example.org:1/'), /refused the connection/)
  })

  it('is broken off when the server stops', async () => {
    const stop = new AbortController()
    listener = () => stop.abort()
    await assert.rejects(post(open, `http://a.example.org:${port}/`, stop.signal))
  })
})
