import type { PageTexts } from './texts/texts.ts'

const UNITS = ['KB', 'MB', 'GB', 'TB', 'PB']
const ARABIC_UNITS = ['ك.ب', 'م.ب', 'غ.ب', 'ت.ب', 'ب.ب']

/** `12 bytes`, `4.2 MB`, in steps of a thousand as in the web app. */
export function sizeText(bytes: number, texts: PageTexts): string {
  if (bytes < 1000) return texts.bytes(bytes)
  let size = bytes / 1000
  let unit = 0
  const units = texts.language === 'ar' ? ARABIC_UNITS : UNITS
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000
    unit += 1
  }
  const { tenths, whole } = formatsIn(texts.locale)
  return `${(size < 100 ? tenths : whole).format(size)} ${units[unit]}`
}

// Clamped to four-digit years.
const LATEST = 253_402_300_799

/** `31 Jul 2025`, in UTC. */
export function dayText(unixSeconds: number, { locale }: PageTexts): string {
  return formatsIn(locale).day.format(dateOf(unixSeconds))
}

/** `31 July 2025 at 22:13 UTC`. */
export function momentText(unixSeconds: number, { locale }: PageTexts): string {
  return formatsIn(locale).moment.format(dateOf(unixSeconds))
}

interface Formats {
  readonly day: Intl.DateTimeFormat
  readonly moment: Intl.DateTimeFormat
  readonly tenths: Intl.NumberFormat
  readonly whole: Intl.NumberFormat
}

const formats = new Map<string, Formats>()

/** Cached, because creating a formatter is expensive and a folder page uses it hundreds of times. */
function formatsIn(locale: string): Formats {
  const there = formats.get(locale)
  if (there !== undefined) return there
  const made = {
    day: new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      timeZone: 'UTC',
    }),
    moment: new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      timeZone: 'UTC',
      timeZoneName: 'short',
    }),
    tenths: new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
    whole: new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }),
  }
  formats.set(locale, made)
  return made
}

export function isoText(unixSeconds: number): string {
  return dateOf(unixSeconds).toISOString()
}

function dateOf(unixSeconds: number): Date {
  return new Date(Math.min(Math.max(unixSeconds, 0), LATEST) * 1000)
}

/** A path for a query. */
export function inQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%2F', '/')
}

/** A path in the path of a URL. */
export function encodeSegments(path: string): string {
  return path
    .split('/')
    .map((name) => encodeURIComponent(name.toWellFormed()))
    .join('/')
}
