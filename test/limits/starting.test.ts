import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { readConfig } from '../../src/base/config/index.ts'
import { createLogger } from '../../src/base/logging.ts'
import { startServer } from '../../src/programs/server/server.ts'
import { eventually } from '../support/transfer.ts'

async function listening(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function freePort(): Promise<number> {
  const server = net.createServer()
  const port = await listening(server)
  server.close()
  await once(server, 'close')
  return port
}

for (const http of ['fast', 'node'])
  it(`a server whose database hangs at the start says that it starts, with CARREL_HTTP=${http}`, async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-starting-'))
    // Accepts connections and never answers.
    const sockets = new Set<net.Socket>()
    const silent = net.createServer((socket) => void sockets.add(socket.on('error', () => {})))
    try {
      const [port, databasePort] = [await freePort(), await listening(silent)]
      const config = readConfig({
        env: {
          CARREL_DATA: data,
          CARREL_PORT: String(port),
          CARREL_DATABASE: `postgres://carrel@127.0.0.1:${databasePort}/carrel`,
          CARREL_UNSAFE_STORAGE: 'allow',
          CARREL_HTTP: http,
          CARREL_LOG: 'silent',
        },
        cwd: data,
      })
      const failed = startServer({
        config,
        logger: createLogger(config.log, { pretty: false }),
        onFatal: (error) => assert.fail(error),
      }).then(
        () => assert.fail('it started without a database'),
        (error: unknown) => error,
      )
      await eventually(async () => {
        const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
        assert.equal(ready.status, 503)
        assert.deepEqual(await ready.json(), { status: 'starting', reason: 'The server is starting.' })
      })
      assert.ok((await failed) instanceof Error)
      await assert.rejects(fetch(`http://127.0.0.1:${port}/readyz`), TypeError)
    } finally {
      for (const socket of sockets) socket.destroy()
      silent.close()
      await rm(data, { recursive: true, force: true })
    }
  })
