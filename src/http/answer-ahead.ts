import type { IncomingMessage, ServerResponse } from 'node:http'
import { drainLimit, hasBody } from './body.ts'

/** How long the rest of a body is read after its answer. */
const lingerMs = 5_000

/** Whether the client is still sending the body of its request. */
export function isStillSending(incoming: IncomingMessage): boolean {
  return !incoming.complete && !incoming.destroyed && hasBody(incoming)
}

/**
 * Writes an answer whose head is written, and drops what still comes in for a while before the exchange ends: a
 * connection closed on a client that is sending may lose the answer on the way.
 */
export function endAhead(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: string | Buffer,
): Promise<void> {
  if (body.length > 0) response.write(body)
  else response.flushHeaders()
  return new Promise((resolve) => {
    let dropped = 0
    const end = () => {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', end).off('close', end)
      response.end()
      resolve()
    }
    const onData = (chunk: Buffer) => {
      dropped += chunk.length
      if (dropped <= drainLimit) return
      incoming.pause()
      end()
    }
    const timer = setTimeout(end, lingerMs)
    incoming.on('data', onData).once('end', end).once('close', end).resume()
  })
}
