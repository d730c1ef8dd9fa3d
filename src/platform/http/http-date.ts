let cachedSecond = 0
let cachedText = ''

/** The current value of the `Date` field, formatted once per second. */
export function currentHttpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== cachedSecond) {
    cachedSecond = second
    cachedText = new Date(second * 1000).toUTCString()
  }
  return cachedText
}

const SECONDS_PER_DAY = 86_400
const MAX_DAYS = 10_000
/** The text of a day, up to the time. */
const days = new Map<number, string>()

/** A time in seconds as an HTTP date. A long listing has one for each item, so the days are formatted once. */
export function httpDate(seconds: number): string {
  const day = Math.floor(seconds / SECONDS_PER_DAY)
  let text = days.get(day)
  if (text === undefined) {
    text = new Date(day * SECONDS_PER_DAY * 1000).toUTCString().replace('00:00:00 GMT', '')
    if (days.size >= MAX_DAYS) days.clear()
    days.set(day, text)
  }
  const time = Math.floor(seconds - day * SECONDS_PER_DAY)
  return `${text}${twoDigits(time / 3600)}:${twoDigits((time / 60) % 60)}:${twoDigits(time % 60)} GMT`
}

function twoDigits(value: number): string {
  const whole = Math.floor(value)
  return whole < 10 ? `0${whole}` : String(whole)
}
