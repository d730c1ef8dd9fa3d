import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { startServer } from '../support/server.ts'

for (const transport of ['fast', 'node']) {
  it(`a server that stops says so while it still serves, over the ${transport} transport`, async () => {
    await using server = await startServer({ env: { CARREL_HTTP: transport, CARREL_DRAIN_SECONDS: '3600' } })
    const before = await fetch(`${server.url}/readyz`)
    assert.equal(before.status, 200)
    assert.match(await before.text(), /"status":\s*"ok"/)
    assert.notEqual(before.headers.get('connection'), 'close')
    // Waits for an hour, unless the process ends before.
    void server.running.drain()
    const ready = await fetch(`${server.url}/readyz`)
    assert.equal(ready.status, 503)
    assert.deepEqual(await ready.json(), { status: 'draining', reason: 'The server is stopping.' })
    const served = await fetch(`${server.url}/api2/ping/`)
    assert.deepEqual([served.status, served.headers.get('connection')], [200, 'close'])
  })

  it(`a process that is retired serves on and closes its connections, over the ${transport} transport`, async () => {
    await using server = await startServer({ env: { CARREL_HTTP: transport } })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = async () => {
      const response = await get(`${server.url}/readyz`, { agent })
      await text(response)
      return [response.statusCode, response.headers.connection === 'close']
    }
    server.running.shedConnections(2)
    const replies = [await send(), await send(), await send()]
    assert.deepEqual(replies, [
      [200, true],
      [200, true],
      [200, false],
    ])
    const client = await server.signUp()
    const events = await get(`${server.url}/api/v2.1/events/`, {
      agent: false,
      headers: { Authorization: `Token ${client.token}`, Accept: 'text/event-stream' },
    })
    assert.equal(events.statusCode, 200)
    const retired = server.running.retire()
    await text(events)
    assert.deepEqual(await send(), [200, true])
    await retired
    assert.equal(server.running.connectionCount, 0)
  })
}

async function get(url: string, options: RequestOptions): Promise<IncomingMessage> {
  const [response] = (await once(request(url, options).end(), 'response')) as [IncomingMessage]
  return response
}
