import { Buffer } from 'node:buffer'
import { Client, type Reply } from '../support/client.ts'

/** What a WebDAV request sends. */
interface DavOptions {
  readonly headers?: Record<string, string>
  readonly body?: string | Uint8Array
}

/** A WebDAV client that signs in with a name and a password. */
export class DavClient {
  readonly #client: Client
  readonly #authorization: string

  constructor(url: string, name: string, password: string) {
    this.#client = new Client(url)
    this.#authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
  }

  call(method: string, path: string, { headers, body }: DavOptions = {}): Promise<Reply> {
    return this.#client.call(method, path, {
      headers: { Authorization: this.#authorization, ...headers },
      ...(body !== undefined && { raw: body }),
    })
  }

  put(path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Reply> {
    return this.call('PUT', path, { body, headers })
  }

  propfind(path: string, depth: string, body?: string): Promise<Reply> {
    return this.call('PROPFIND', path, { headers: { Depth: depth }, ...(body !== undefined && { body }) })
  }

  /** The unescaped names in a folder. */
  async names(path: string): Promise<string[]> {
    const { text } = await this.propfind(path, '1')
    const hrefs = Array.from(text.matchAll(/<d:href>([^<]*)<\/d:href><d:propstat>/g), ([, href = '']) => href)
    return hrefs
      .slice(1)
      .map((href) => decodeURIComponent(href.replace(/\/$/, '').split('/').at(-1) ?? ''))
      .sort()
  }

  /** Takes an exclusive lock and returns its token. */
  async lock(path: string, headers: Record<string, string> = {}): Promise<string> {
    const reply = await this.call('LOCK', path, { headers: { Depth: '0', ...headers }, body: LOCK })
    return reply.headers.get('lock-token') ?? `none: ${reply.status}`
  }
}

export const LOCK =
  '<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner><href>mailto:me</href></owner></lockinfo>'

/** The body of a PROPFIND for some properties of the DAV: namespace. */
export function asking(...names: string[]): string {
  return `<propfind xmlns="DAV:"><prop>${names.map((name) => `<${name}/>`).join('')}</prop></propfind>`
}
