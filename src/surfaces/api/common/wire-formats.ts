// Formats of times, sizes and URLs that existing clients expect.

// Sync clients may send any time. It is clamped to four-digit years.
const LATEST = 253_402_300_799

/** ISO 8601 in UTC without a fraction: `2025-07-31T22:13:20+00:00`. */
export function isoTime(unixSeconds: number): string {
  return `${dateOf(unixSeconds).toISOString().slice(0, 19)}+00:00`
}

function dateOf(unixSeconds: number): Date {
  return new Date(Math.min(Math.max(unixSeconds, 0), LATEST) * 1000)
}

const UNITS = ['KB', 'MB', 'GB', 'TB', 'PB']

/** `0 bytes`, `1 byte`, `81.3 KB`: steps of 1024, and a no-break space. */
export function formatSize(bytes: number): string {
  if (!(bytes > 0)) return '0\u00a0bytes'
  if (bytes < 1024) return `${bytes}\u00a0${bytes === 1 ? 'byte' : 'bytes'}`
  let size = bytes / 1024
  let unit = 0
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024
    unit++
  }
  return `${size.toFixed(1)}\u00a0${UNITS[unit]}`
}

/** The HTML element older clients show for a time. */
export function relativeTime(unixSeconds: number, now: number): string {
  const date = dateOf(unixSeconds)
  const title = date.toUTCString().replace('GMT', '+0000')
  const datetime = date.toISOString().slice(0, 19)
  return `<time datetime="${datetime}" is="relative-time" title="${title}" >${ago(unixSeconds, now)}</time>`
}

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

function ago(unixSeconds: number, now: number): string {
  const seconds = now - unixSeconds
  if (seconds <= 0) return 'Just now'
  if (seconds <= MINUTE) return count(seconds, 'second')
  if (seconds <= HOUR) return count(Math.floor(seconds / MINUTE), 'minute')
  if (seconds < DAY) return count(Math.floor(seconds / HOUR), 'hour')
  if (seconds <= 14 * DAY) return count(Math.floor(seconds / DAY), 'day')
  return dateOf(unixSeconds).toISOString().slice(0, 10)
}

function count(n: number, unit: string): string {
  return `${n} ${unit}${n === 1 ? '' : 's'} ago`
}

/** Percent-encodes everything except unreserved characters (RFC 3986). */
export function encodeSegment(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** As encodeSegment, but keeps slashes. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeSegment).join('/')
}
