const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB']
/** Latin letters after a number would be read in the wrong order within Arabic. */
const ARABIC_UNITS = ['بايت', 'ك.ب', 'م.ب', 'غ.ب', 'ت.ب', 'ب.ب']
const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** Relative times are shown for so long. */
const RECENT_SECONDS = 7 * 86_400

/** Locale formats of numbers, sizes and times. Times are Unix seconds or ISO strings. */
export interface Formats {
  /** A BCP 47 tag. */
  readonly locale: string
  number(value: number): string
  size(bytes: number): string
  /** Date and time, to the minute. */
  moment(time: number | string): string
  date(time: number | string): string
  /** Time of the day, to the minute. */
  time(time: number | string): string
  /** Date with the day of the week. */
  day(time: number | string): string
  /** Date, and `2 hours ago` beside it for the last week. */
  when(time: number | string): string
  /** `2 hours ago` for the last week, otherwise the date: `8 years ago` says less. */
  ago(time: number | string): string
  /** `3 min 20 s`, for the time left. */
  duration(seconds: number): string
}

/** Formats in a locale such as `en-GB`. */
export function formatsIn(locale: string): Formats {
  const units = locale.startsWith('ar') ? ARABIC_UNITS : UNITS
  const whole = new Intl.NumberFormat(locale)
  const short = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'full' })
  const timeOfDay = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const unit = (value: number, name: 'hour' | 'minute' | 'second') =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'short' }).format(value)
  const relativeTo = (seconds: number) => {
    const [name, length] = STEPS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
    return relative.format(name === 'second' ? 0 : Math.round(seconds / length), name)
  }
  const secondsSince = (time: Date) => (Date.now() - time.getTime()) / 1000
  return {
    locale,
    number: (value) => whole.format(value),
    size(bytes) {
      const step = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1)
      const shown = bytes / 1000 ** step
      return `${(shown >= 100 ? whole : short).format(shown >= 100 ? Math.round(shown) : shown)} ${units[step]}`
    },
    moment: (time) => moment.format(dateOf(time)),
    date: (time) => date.format(dateOf(time)),
    time: (time) => timeOfDay.format(dateOf(time)),
    day: (time) => day.format(dateOf(time)),
    when(time) {
      const at = dateOf(time)
      const since = secondsSince(at)
      return Math.abs(since) < RECENT_SECONDS ? `${date.format(at)} · ${relativeTo(-since)}` : date.format(at)
    },
    ago(time) {
      const at = dateOf(time)
      const since = secondsSince(at)
      return Math.abs(since) < RECENT_SECONDS ? relativeTo(-since) : date.format(at)
    },
    duration(seconds) {
      const rounded = Math.max(0, Math.round(seconds))
      if (rounded >= 3600)
        return `${unit(Math.floor(rounded / 3600), 'hour')} ${unit(Math.floor((rounded % 3600) / 60), 'minute')}`
      if (rounded >= 60) return `${unit(Math.floor(rounded / 60), 'minute')} ${unit(rounded % 60, 'second')}`
      return unit(rounded, 'second')
    },
  }
}

function dateOf(time: number | string): Date {
  return new Date(typeof time === 'number' ? time * 1000 : time)
}
