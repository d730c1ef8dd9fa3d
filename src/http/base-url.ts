import { type ProxyTrust, plainAddress } from './client-address.ts'
import { authorityOf } from './request-target.ts'
import type { IncomingRequest, RequestHeaders } from './transport.ts'

/** How a client addressed us. */
type Addressed = Pick<IncomingRequest, 'socket' | 'isEncrypted'> & {
  readonly head: Pick<IncomingRequest['head'], 'url'> & { readonly headers: Pick<RequestHeaders, 'all'> }
}

/** What is the same for every request of one server. */
export interface Site {
  readonly trust: ProxyTrust
  /** Scheme and host of links we hand out, when configured. */
  readonly publicUrl: string | undefined
}

/**
 * Scheme and host of the links we hand out: as configured, else as the client addressed us. Forwarding headers count
 * only if a trusted proxy wrote them. Text that does not look like a host is never echoed.
 */
export function baseUrlOf({ head, socket, isEncrypted }: Addressed, site: Site): string {
  if (site.publicUrl !== undefined) return site.publicUrl
  const { all: headers } = head.headers
  const proxied = site.trust(plainAddress(socket.remoteAddress ?? ''))
  // RFC 9112, 3.2.2: the host of an absolute-form target replaces the Host field.
  const host =
    (proxied ? parseHost(lastOf(headers['x-forwarded-host'])) : undefined) ??
    parseHost(authorityOf(head.url) ?? headers.host)
  const scheme = isEncrypted ? 'https' : 'http'
  if (host === undefined) return urlOf(scheme, socket.localAddress ?? '127.0.0.1', socket.localPort ?? 80)
  return `${proxied && lastOf(headers['x-forwarded-proto']) === 'https' ? 'https' : scheme}://${host}`
}

/** The URL of an address and a port. */
export function urlOf(scheme: 'http' | 'https', address: string, port: number): string {
  const host = plainAddress(address)
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Checks a configured public URL and takes the slashes off its end. */
export function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new Error(`Public URL "${text}" must look like https://files.example.org.`)
  }
  return url.href.replace(/\/+$/, '')
}

/** `name`, `1.2.3.4` or `[::1]`, with or without a port. */
function parseHost(text: string | undefined): string | undefined {
  const shape = /^(?:[a-z0-9_](?:[a-z0-9_.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i
  return text !== undefined && shape.test(text) ? text : undefined
}

/** The entry written by the proxy nearest to us, should several have written one. */
function lastOf(header: string | string[] | undefined): string | undefined {
  return header === undefined ? undefined : String(header).split(',').at(-1)?.trim()
}
