import type { ResponseHeaders } from '../responses/index.ts'
import type { FlatHeaders } from './transport.ts'

// Default security headers. A surface or a response may override each of them.

/**
 * For every response: no MIME sniffing, no active content, no framing, no embedding by other sites, and no
 * `Referer`, because URLs may contain tokens.
 */
export const baseHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
}

/**
 * For a server that is reached over HTTPS: browsers never use plain HTTP with this host again, for 180 days after each response
 * (RFC 6797). Hosts below it are left to their owners.
 */
export const secureHeaders: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=15552000',
}

/** Browser features that no page of ours uses. */
const unused = [
  'accelerometer',
  'bluetooth',
  'browsing-topics',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'identity-credentials-get',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'publickey-credentials-get',
  'serial',
  'usb',
  'xr-spatial-tracking',
]

/** For pages and the web app: isolated from windows of other sites. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': unused.map((feature) => `${feature}=()`).join(', '),
  'X-Frame-Options': 'DENY',
}

/** For URLs that contain their own credential and that pages of any site may load. */
export const sharedHeaders: Readonly<Record<string, string>> = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/**
 * The default headers of the responses of a surface, without those that a response overrides. Handlers override few combinations, so a list is made
 * once for each, and transports may cache what they make of it.
 */
export class DefaultHeaders {
  readonly #values: readonly (readonly [name: string, value: string])[]
  /** A bit for each name. */
  readonly #bits = new Map<string, number>()
  /** By the bits of the names that are overridden. */
  readonly #lists = new Map<number, FlatHeaders>()

  constructor(headers: Readonly<Record<string, string>>) {
    this.#values = Object.entries(headers)
    this.#values.forEach(([name], at) => this.#bits.set(name, 2 ** at))
  }

  /** The same list for all responses that override the same names. */
  without(overriding: ResponseHeaders): FlatHeaders {
    let overridden = 0
    for (const name in overriding) overridden += this.#bits.get(name) ?? 0
    const known = this.#lists.get(overridden)
    if (known !== undefined) return known
    const left = this.#values.filter(([name]) => !(name in overriding)).flat()
    this.#lists.set(overridden, left)
    return left
  }
}
