import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

/** An answer as it came, byte by byte. */
export interface RawReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** Whether the connection ended before the answer did. */
  readonly isCut: boolean
}

/** Asks for a URL as it is written and takes whatever comes, a connection that breaks included. */
export function rawGet(
  url: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<RawReply> {
  const { method = 'GET', headers = {} } = options
  const { hostname, port } = new URL(url)
  // The path is not taken from the URL object, which would tidy it up.
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
