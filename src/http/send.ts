import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished, type Readable } from 'node:stream'
import type { Answer } from './answer.ts'

/**
 * Writes an answer. Throws only before anything was sent (a header value that cannot be one), so the caller
 * can still answer something else; resolves when a stream has been sent, and rejects with what broke it.
 */
export function send(
  incoming: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  extraHeaders: readonly string[],
): Promise<void> | undefined {
  const { body } = answer
  if (typeof body !== 'string' && !Buffer.isBuffer(body))
    return sendStream(incoming, response, answer, body, extraHeaders)
  const headers: (string | number | readonly string[])[] = [...extraHeaders]
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? '')
  if (answer.status !== 204 && answer.status !== 304) headers.push('Content-Length', Buffer.byteLength(body))
  response.writeHead(answer.status, headers as string[])
  // Node leaves the body out where there must be none: HEAD, 204, 304.
  response.end(body)
  return undefined
}

/** Lets go of an answer nobody is there to take. */
export function discard({ body }: Answer): void {
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) body.destroy()
}

async function sendStream(
  incoming: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  body: Readable,
  extraHeaders: readonly string[],
): Promise<void> {
  try {
    // Set, not written: if the stream fails before its first byte, the client can still be told.
    response.statusCode = answer.status
    for (let at = 0; at < extraHeaders.length; at += 2) {
      response.setHeader(extraHeaders[at] ?? '', extraHeaders[at + 1] ?? '')
    }
    for (const name in answer.headers) response.setHeader(name, answer.headers[name] ?? '')
  } catch (error) {
    body.destroy()
    throw error
  }
  if (incoming.method === 'HEAD') {
    body.destroy()
    response.end()
    return
  }
  await pipe(body, response)
}

function pipe(body: Readable, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    finished(body, { writable: false }, (error) => {
      if (!error) return
      body.unpipe(response)
      // The client must not take what it has for the whole.
      if (response.headersSent) response.destroy()
      else for (const name of response.getHeaderNames()) response.removeHeader(name)
      reject(error)
    })
    response.once('close', () => {
      if (!response.writableFinished) body.destroy()
      resolve()
    })
    body.pipe(response)
  })
}
