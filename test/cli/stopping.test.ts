import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import path from 'node:path'
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

it('a server that is the first process of a container ends when its disk fails', (t) => {
  const file = path.join(import.meta.dirname, '../../src/programs/cli/serve.ts')
  const script = `const { stopAtOnce } = await import(${JSON.stringify(file)})
    console.log('process', process.pid)
    stopAtOnce(new Error('a test'))
    console.log('goes on')`
  const args = ['--pid', '--fork', '--kill-child', process.execPath, '--input-type=module', '--eval', script]
  const ended = spawnSync('unshare', args, { encoding: 'utf8', timeout: 60_000 })
  if (ended.error !== undefined || /unshare failed/.test(ended.stderr)) {
    return t.skip('a namespace of processes cannot be created here (needs root)')
  }
  assert.equal(ended.stdout, 'process 1\n')
  assert.match(ended.stderr, /Nothing can be saved any more \(a test\)/)
  assert.notEqual(ended.status, 0)
})
