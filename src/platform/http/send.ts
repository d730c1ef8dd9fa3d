import { Readable } from 'node:stream'
import type { Chunks, HttpResponse, ResponseHeaders } from '../responses/index.ts'
import type { FlatHeaders, ResponseWriter } from './transport.ts'

/**
 * Sends a response. Throws only before the first byte (an invalid header value), so the caller can still send another
 * one. Resolves when a stream has been sent, and rejects with its error.
 */
export function send(
  writer: ResponseWriter,
  method: string,
  response: HttpResponse,
  extraHeaders: readonly string[],
  defaults: FlatHeaders,
): Promise<void> | undefined {
  const { body, status } = response
  const headers = flat(extraHeaders, response.headers)
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    writer.send(status, headers, body, defaults)
    return undefined
  }
  return sendStream(writer, method, response, { headers, defaults }, body)
}

/** Releases a response whose client is gone. */
export async function discard({ body, release }: HttpResponse): Promise<void> {
  release?.()
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) await releaseBody(body)
}

async function releaseBody(body: Readable | Chunks): Promise<void> {
  if (body instanceof Readable) body.destroy()
  else await body.return()
}

function flat(extra: readonly string[], headers: ResponseHeaders): FlatHeaders {
  const all: (string | number | readonly string[])[] = [...extra]
  for (const name in headers) all.push(name, headers[name] ?? '')
  return all
}

async function sendStream(
  writer: ResponseWriter,
  method: string,
  response: HttpResponse,
  { headers, defaults }: { readonly headers: FlatHeaders; readonly defaults: FlatHeaders },
  body: Readable | Chunks,
): Promise<void> {
  try {
    writer.begin(response.status, headers, defaults)
  } catch (error) {
    await releaseBody(body)
    throw error
  }
  if (method === 'HEAD') {
    await releaseBody(body)
    writer.end()
    return
  }
  await writeChunks(body instanceof Readable ? chunksOf(body) : body, writer)
}

/** One chunk at a time: the next is read when the socket has taken the last, whose memory is then reused (backpressure). */
async function writeChunks(chunks: Chunks, writer: ResponseWriter): Promise<void> {
  // One listener for all chunks: a promise for each would be retained until the last is sent.
  let wake = () => {}
  writer.onClose(() => wake())
  const written = (chunk: Buffer) =>
    new Promise<void>((resolve) => {
      wake = resolve
      writer.write(chunk, resolve)
    })
  try {
    for (let step = await chunks.next(); step.done !== true; step = await chunks.next()) {
      await written(step.value)
      if (writer.isClosed) return
    }
  } catch (error) {
    // The client must not take a part for the whole.
    if (writer.isBegun) writer.destroy()
    throw error
  } finally {
    await chunks.return()
  }
  await new Promise<void>((resolve) => {
    wake = resolve
    writer.end()
    if (writer.isClosed) resolve()
  })
}

function chunksOf(stream: Readable): Chunks {
  const steps = stream[Symbol.asyncIterator]()
  return {
    async next() {
      const step: IteratorResult<string | Buffer, unknown> = await steps.next()
      if (step.done === true) return { done: true, value: undefined }
      return { done: false, value: typeof step.value === 'string' ? Buffer.from(step.value) : step.value }
    },
    async return() {
      stream.destroy()
    },
  }
}
