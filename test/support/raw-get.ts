import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

/** A raw response. */
export interface RawReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** Whether the connection closed before the response was complete. */
  readonly isCut: boolean
}

/** Sends a GET for a URL exactly as written. A broken connection is not an error. */
export function rawGet(
  url: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<RawReply> {
  const { method = 'GET', headers = {} } = options
  const { hostname, port } = new URL(url)
  // The path is not taken from the URL object, which would normalize it.
  const path = url.slice(url.indexOf('/', 'http://'.length))
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: false })
    sent.once('error', reject)
    sent.once('response', (reply: IncomingMessage) => {
      const chunks: Buffer[] = []
      reply.on('data', (chunk: Buffer) => chunks.push(chunk))
      reply.on('error', () => {})
      reply.once('close', () =>
        resolve({
          status: reply.statusCode ?? 0,
          headers: reply.headers,
          bytes: Buffer.concat(chunks),
          isCut: !reply.complete,
        }),
      )
    })
    sent.end()
  })
}
