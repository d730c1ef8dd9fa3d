// What browsers are told with every response. A surface or a response may say otherwise, header by header.

/**
 * For every response: its type is what it says, it is no page, nobody may frame it, no other site may embed it, and
 * addresses, which may hold tokens, are told to nobody.
 */
export const baseHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
}

/** What no page of ours ever asks a browser for. */
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

/** For pages, the web app and what both are made of: no window of another site has a hand in them. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': unused.map((feature) => `${feature}=()`).join(', '),
  'X-Frame-Options': 'DENY',
}

/** For addresses that are their own credential, and that pages of any site may load. */
export const sharedHeaders: Readonly<Record<string, string>> = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
