import { type ProxyTrust, plainAddress } from './client-address.ts'
import { authorityOf } from './request-target.ts'
import type { IncomingRequest, RequestHeaders } from './transport.ts'

/** How a client addressed the server. */
type Addressed = Pick<IncomingRequest, 'socket' | 'isEncrypted'> & {
  readonly head: Pick<IncomingRequest['head'], 'url'> & { readonly headers: Pick<RequestHeaders, 'all'> }
}

/** Settings that are the same for all requests. */
export interface Site {
  readonly trust: ProxyTrust
  /** The configured scheme and host of links. */
  readonly publicUrl: string | undefined
}

/**
 * Scheme and host of links: as configured, or else as the client addressed the server. Forwarding headers
 * count only if a trusted proxy set them. Text that is not a valid host is never echoed.
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

/** Builds the URL of an address and a port. */
export function urlOf(scheme: 'http' | 'https', address: string, port: number): string {
  const host = plainAddress(address)
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Validates a configured public URL and removes trailing slashes. */
export function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new Error(`Public URL "${text}" must look like https://files.example.org.`)
  }
  return url.href.replace(/\/+$/, '')
}

/** `name`, `1.2.3.4` or `[::1]`, with an optional port. */
function parseHost(text: string | undefined): string | undefined {
  const shape = /^(?:[a-z0-9_](?:[a-z0-9_.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i
  return text !== undefined && shape.test(text) ? text : undefined
}

/** The last entry, which the nearest proxy wrote. */
function lastOf(header: string | string[] | undefined): string | undefined {
  return header === undefined ? undefined : String(header).split(',').at(-1)?.trim()
}
