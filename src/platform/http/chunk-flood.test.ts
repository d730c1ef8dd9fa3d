import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'

const CONNECTIONS = 58
/** Node's parser takes 5 µs for each chunk, so it gets fewer of them and a smaller heap. */
const floods = [
  { transport: 'fast', bytes: 22 * 2 ** 20, heapMegabytes: 100 },
  { transport: 'node', bytes: 3 * 2 ** 20, heapMegabytes: 40 },
]

/** A server in a process with a small heap, whose handler never reads the body. */
const program = `
  import { route, serve } from ${JSON.stringify(new URL('../../../test/support/http-server.ts', import.meta.url).href)}
  const waiting = route({
    method: 'POST', path: '/wait', auth: 'none', summary: 'A test.', body: 'raw', handle: () => new Promise(() => {}),
  })
  const server = await serve([waiting], { transport: { kind: process.argv[1] } })
  console.log(server.port)
`

describe('a body in chunks of one byte', () => {
  for (const { transport, bytes, heapMegabytes } of floods) {
    for (const [about, chunk] of [
      ['without extensions', '1\r\na\r\n'],
      ['with extensions', '1;a=b\r\na\r\n'],
    ] as const) {
      it(`${about} takes no more memory than its bytes (${transport} transport)`, {
        timeout: 60_000,
      }, async () => {
        const flags = [
          `--max-old-space-size=${heapMegabytes}`,
          '--input-type=module',
          '--eval',
          program,
          transport,
        ]
        const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
        try {
          const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
          const chunks = Buffer.from(chunk.repeat(Math.floor(bytes / CONNECTIONS / chunk.length)))
          const head = 'POST /wait HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
          const sockets = await Promise.all(
            Array.from({ length: CONNECTIONS }, async () => {
              const socket = connect(Number(line), '127.0.0.1')
              socket.on('error', () => {})
              socket.write(head)
              await new Promise((resolve) => socket.write(chunks, resolve))
              return socket
            }),
          )
          const reply = await fetch(`http://127.0.0.1:${line}/healthz`)
          assert.equal(reply.status, 200)
          assert.equal(child.exitCode ?? child.signalCode, null)
          for (const socket of sockets) socket.destroy()
        } finally {
          child.kill('SIGKILL')
        }
      })
    }
  }
})
