import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished, Readable } from 'node:stream'
import type { Answer, Chunks } from './answer.ts'
import { endAhead } from './answer-ahead.ts'

/**
 * Writes an answer. Throws only before anything was sent (a header value that cannot be one), so the caller
 * can still answer something else; resolves when a stream has been sent, and rejects with what broke it. An answer
 * ahead of the end of a body is on its way at once, and resolves when enough of the rest was read.
 */
export function send(
  incoming: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  extraHeaders: readonly string[],
  isAhead = false,
): Promise<void> | undefined {
  const { body } = answer
  if (typeof body !== 'string' && !Buffer.isBuffer(body))
    return sendStream(incoming, response, answer, body, extraHeaders)
  const headers: (string | number | readonly string[])[] = [...extraHeaders]
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? '')
  const isEmpty = answer.status === 204 || answer.status === 304
  const length = Buffer.byteLength(body)
  // An answer to HEAD knows the length of what it does not carry.
  if (!isEmpty && !('Content-Length' in answer.headers)) headers.push('Content-Length', length)
  response.writeHead(answer.status, headers as string[])
  if (isAhead) return endAhead(incoming, response, body)
  // Node leaves the body out where there must be none: HEAD, 204, 304.
  if (typeof body !== 'string' && length <= LONGEST_WITH_HEAD) response.end(body.toString('latin1'), 'latin1')
  else if (typeof body === 'string' && length === body.length) response.end(body, 'latin1')
  else response.end(body)
  return undefined
}

/** Bytes sent as text, one character each, go out in one piece with the head; above this, copying them costs more. */
const LONGEST_WITH_HEAD = 8 * 1024

/** Lets go of an answer nobody is there to take. */
export async function discard({ body, giveBack }: Answer): Promise<void> {
  giveBack?.()
  if (body instanceof Readable) body.destroy()
  else if (typeof body !== 'string' && !Buffer.isBuffer(body)) await body.return()
}

async function sendStream(
  incoming: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  body: Readable | Chunks,
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
    await discard(answer)
    throw error
  }
  if (incoming.method === 'HEAD') {
    await discard(answer)
    response.end()
    return
  }
  await (body instanceof Readable ? pipe(body, response) : writeChunks(body, response))
}

/** One chunk at a time: the next is asked for when the socket has taken the last, whose memory is then free. */
async function writeChunks(chunks: Chunks, response: ServerResponse): Promise<void> {
  // One listener for all chunks: a promise for each would be kept until the last is sent.
  let wake = () => {}
  response.once('close', () => wake())
  const written = (chunk: Buffer) =>
    new Promise<void>((resolve) => {
      wake = resolve
      if (response.closed) resolve()
      else response.write(chunk, () => resolve())
    })
  try {
    for (let step = await chunks.next(); step.done !== true; step = await chunks.next()) {
      await written(step.value)
      if (response.destroyed) return
    }
  } catch (error) {
    // The client must not take what it has for the whole.
    if (response.headersSent) response.destroy()
    else removeHeaders(response)
    throw error
  } finally {
    await chunks.return()
  }
  await new Promise<void>((resolve) => {
    wake = resolve
    if (response.closed) resolve()
    else response.end()
  })
}

function removeHeaders(response: ServerResponse): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name)
}

function pipe(body: Readable, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    finished(body, { writable: false }, (error) => {
      if (!error) return
      body.unpipe(response)
      // The client must not take what it has for the whole.
      if (response.headersSent) response.destroy()
      else removeHeaders(response)
      reject(error)
    })
    response.once('close', () => {
      if (!response.writableFinished) body.destroy()
      resolve()
    })
    body.pipe(response)
  })
}
