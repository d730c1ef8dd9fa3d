import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { route, serve } from '../../../test/support/http-server.ts'

const CLIENTS = 8
const ROUNDS = 50
const request = 'GET /counted HTTP/1.1\r\nHost: a\r\n\r\n'

describe('requests of several connections', () => {
  it('that arrive in one turn of the event loop begin in one callback after it', async () => {
    let callbacks = 0
    let isCounted = false
    const counted = route({
      method: 'GET',
      path: '/counted',
      auth: 'none',
      summary: 'A test.',
      handle() {
        if (!isCounted) {
          isCounted = true
          callbacks += 1
          process.nextTick(() => {
            isCounted = false
          })
        }
        return 'counted'
      },
    })
    await using server = await serve([counted])
    const sockets = await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        const socket = connect(server.port, '127.0.0.1')
        await once(socket, 'connect')
        return socket
      }),
    )
    // A slow machine may cut a round in parts: requests begin for at most 2 ms before others have their turn.
    for (let round = 0; callbacks !== 1 && round < ROUNDS; round++) {
      callbacks = 0
      const responses = sockets.map((socket) => once(socket, 'data'))
      for (const socket of sockets) socket.write(request)
      await Promise.all(responses)
    }
    for (const socket of sockets) socket.destroy()
    assert.equal(callbacks, 1)
  })
})
