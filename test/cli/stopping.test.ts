import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { startServer } from '../support/server.ts'

describe('a server that stops', { timeout: 60_000 }, () => {
  it('logs what it waits for', async () => {
    await using server = await startServer()
    const { running } = server
    const socket = connect(running.listening.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      'POST /api2/auth-token/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
        'Content-Length: 2\r\nExpect: 100-continue\r\n\r\n',
    )
    await once(socket, 'data')
    assert.equal(running.closing, undefined)
    const closed = running.close()
    while (running.closing === undefined) await new Promise(setImmediate)
    assert.equal(running.closing, 'requests')
    socket.write('{}')
    await closed
    assert.equal(running.closing, undefined)
    socket.destroy()
  })
})
