const UNITS = ['KB', 'MB', 'GB', 'TB', 'PB']

/** `12 bytes`, `4.2 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  let size = bytes / 1024
  let unit = 0
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024
    unit += 1
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`
}

const days = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})
// What has no four-digit year is shown as the nearest that has.
const LATEST = 253_402_300_799

/** `31 Jul 2025`, in UTC. */
export function dayText(unixSeconds: number): string {
  return days.format(dateOf(unixSeconds))
}

export function isoText(unixSeconds: number): string {
  return dateOf(unixSeconds).toISOString()
}

function dateOf(unixSeconds: number): Date {
  return new Date(Math.min(Math.max(unixSeconds, 0), LATEST) * 1000)
}

export function count(n: number, one: string, several = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : several}`
}

/** A path for a query. */
export function inQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%2F', '/')
}
