import assert from 'node:assert/strict'
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
}
