/** Dates without a time are ISO texts, `YYYY-MM-DD`. Computed in UTC, so that no day has 23 or 25 hours. */

const DAY_MS = 86_400_000
const DAYS_PER_WEEK = 7
const ISO_DATE = /^(\d{4})-(\d\d)-(\d\d)$/

/** The same date `days` later. */
export function addDays(date: string, days: number): string {
  return isoOf(new Date(Date.parse(date) + days * DAY_MS))
}

/** The same day `months` later, or the last one of a shorter month. */
export function addMonths(date: string, months: number): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number)
  const last = new Date(Date.UTC(year, month + months, 0))
  return isoOf(
    new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), Math.min(day, last.getUTCDate()))),
  )
}

/** The weeks of the month of a date. Days of other months are undefined. `firstDay` is 1 for Monday to 7 for Sunday. */
export function weeksOf(date: string, firstDay: number): (string | undefined)[][] {
  const first = `${date.slice(0, 8)}01`
  const before = (new Date(first).getUTCDay() - firstDay + 2 * DAYS_PER_WEEK) % DAYS_PER_WEEK
  const days = Number(addDays(addMonths(first, 1), -1).slice(8))
  return Array.from({ length: Math.ceil((before + days) / DAYS_PER_WEEK) }, (_, week) =>
    Array.from({ length: DAYS_PER_WEEK }, (_, column) => {
      const day = week * DAYS_PER_WEEK + column - before
      return day < 0 || day >= days ? undefined : addDays(first, day)
    }),
  )
}

/** The first day of the week in a locale, 1 for Monday to 7 for Sunday. */
export function firstDayOfWeek(locale: string): number {
  const known = new Intl.Locale(locale) as Intl.Locale & {
    getWeekInfo?: () => { firstDay: number }
    weekInfo?: { firstDay: number }
  }
  return (known.getWeekInfo?.() ?? known.weekInfo)?.firstDay ?? 1
}

/** A date in digits, as the locale writes it. Empty for none. */
export function formatTyped(date: string, locale: string): string {
  if (date === '') return ''
  const format = { day: '2-digit', month: '2-digit', year: 'numeric', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat(locale, format).format(Date.parse(date))
}

/** Reads a date that was typed in the order of the locale, or in ISO order. Undefined while it is incomplete: the year needs four digits. */
export function parseTyped(text: string, locale: string): string | undefined {
  const trimmed = inLatinDigits(text).trim()
  if (ISO_DATE.test(trimmed)) return existing(trimmed)
  const numbers = trimmed.match(/\d+/g) ?? []
  const order = new Intl.DateTimeFormat(locale)
    .formatToParts(0)
    .map(({ type }) => type)
    .filter((type) => type === 'day' || type === 'month' || type === 'year')
  if (numbers.length !== order.length) return undefined
  const part = (type: string) => numbers[order.findIndex((one) => one === type)] ?? ''
  const iso = [part('year'), part('month').padStart(2, '0'), part('day').padStart(2, '0')].join('-')
  return ISO_DATE.test(iso) ? existing(iso) : undefined
}

/** Arabic and Persian keyboards type digits of their own, whose blocks begin at U+0660 and U+06F0. */
function inLatinDigits(text: string): string {
  return text.replaceAll(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 0xf))
}

/** The date, if there is such a day: not 30 February. */
function existing(iso: string): string | undefined {
  const time = Date.parse(iso)
  return !Number.isNaN(time) && isoOf(new Date(time)) === iso ? iso : undefined
}

function isoOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
