import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { Connection } from '../../sdk/src/connection.ts'
import { CarrelError } from '../../sdk/src/errors.ts'

/** The number of requests that a call sends to a server which answers the first one with a status and the others with success. */
async function requestsAfter(status: number, method: string): Promise<number> {
  let requests = 0
  const server = createServer((_, response) => {
    requests += 1
    response.writeHead(requests === 1 ? status : 200).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const connection = new Connection({ url: `http://127.0.0.1:${port}`, firstDelayMs: 1 })
    await connection.call(method, 'api2/repos/').catch((error: unknown) => {
      assert.ok(error instanceof CarrelError && error.status === status, String(error))
    })
    return requests
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

it('the SDK repeats a POST only if nothing was done, and other methods also if that is not known', async () => {
  for (const status of [429, 503]) assert.equal(await requestsAfter(status, 'POST'), 2, String(status))
  for (const status of [502, 504, 500, 400])
    assert.equal(await requestsAfter(status, 'POST'), 1, String(status))
  for (const status of [429, 502, 503, 504])
    assert.equal(await requestsAfter(status, 'PUT'), 2, String(status))
})
