import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { LoadError } from '../../bench/load/child-process.ts'
import { requestText } from '../../bench/load/request-text.ts'
import { runStreams } from '../../bench/load/run-streams.ts'
import { LongBodies, PIECE_BYTES } from '../../bench/load/stream-body.ts'
import type { Stream } from '../../bench/load/stream-plan.ts'

const BYTES = 2 * PIECE_BYTES + 12_345

async function streamTo(listener: RequestListener, streams: readonly Stream[]) {
  await using server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { address: host, port } = server.address() as AddressInfo
  return await runStreams({ host, port, streams, status: 200 })
}

function uploadOf(path: string, body: number, bytes: number): Stream {
  const headers = { 'Content-Length': String(bytes + 'tail'.length) }
  return {
    head: requestText({ method: 'PUT', path, headers }, 'here'),
    upload: { body, bytes, tail: 'tail' },
  }
}

/** The hash of all but the tail. */
async function sha1Of(request: IncomingMessage): Promise<string> {
  const body = await buffer(request)
  assert.equal(body.toString('latin1', BYTES), 'tail')
  return createHash('sha1').update(body.subarray(0, BYTES)).digest('hex')
}

describe('large streams of the load generator', () => {
  it('sends each body completely, and no two equal', async () => {
    const seen: string[] = []
    const take: RequestListener = (request, response) => {
      void sha1Of(request).then((hash) => {
        seen.push(hash)
        return response.end('taken')
      })
    }
    await streamTo(take, [uploadOf('/', 1, BYTES), uploadOf('/', 2, BYTES)])
    const bodies = new LongBodies()
    assert.deepEqual(seen.sort(), [bodies.sha1(1, BYTES), bodies.sha1(2, BYTES)].sort())
    assert.notEqual(seen[0], seen[1])
  })

  it('counts the bytes of large responses', async () => {
    const body = Buffer.alloc(BYTES, 'x')
    const { responseBytes } = await streamTo(
      (_request, response) => response.setHeader('Content-Length', BYTES).end(body),
      ['/a', '/b'].map((path) => ({ head: requestText({ method: 'GET', path }, 'here') })),
    )
    assert.deepEqual(responseBytes, [BYTES, BYTES])
  })

  it('fails with the response of a server that stops reading', async () => {
    const sending = streamTo(
      (_request, response) => response.writeHead(507, { 'Content-Length': 4 }).end('full'),
      [uploadOf('/full', 1, 64 * PIECE_BYTES)],
    )
    await assert.rejects(
      sending,
      (error) => error instanceof LoadError && error.message === 'PUT /full: 507 full',
    )
  })
})
