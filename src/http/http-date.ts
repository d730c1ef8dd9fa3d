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
