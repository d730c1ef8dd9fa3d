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
