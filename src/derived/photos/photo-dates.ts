export const DAY_SECONDS = 86_400
const FIRST_SECOND = Date.UTC(2000, 0, 1) / 1000 - 730_119 * DAY_SECONDS
const LAST_SECOND = Date.UTC(9999, 11, 31) / 1000

/** The time in the timeline. A client can send any modification time, so it is limited to the years 1 to 9999. */
export function takenAtOf(originalAt: number | undefined, mtime: number): number {
  return Math.min(Math.max(originalAt ?? mtime, FIRST_SECOND), LAST_SECOND)
}

/** Days since 1970. */
export function dayOf(takenAt: number): number {
  return Math.floor(takenAt / DAY_SECONDS)
}
