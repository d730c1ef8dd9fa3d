/** Times without a zone, as `YYYY-MM-DDThh:mm:ss`. */

/** A time that many seconds later; undefined outside the years 1 to 9999. */
export function shiftedBy(time: string, seconds: number): string | undefined {
  const ms = Date.parse(`${time}Z`) + seconds * 1000
  if (Number.isNaN(ms) || Number.isNaN(new Date(ms).getTime())) return undefined
  const shifted = new Date(ms).toISOString()
  return /^(?!0000)\d{4}-/.test(shifted) ? shifted.slice(0, 19) : undefined
}

/** Sets the first of some times to another one. The others keep their distance to it, and so their order. */
export function setTo(time: string, first: string, to: string): string | undefined {
  return shiftedBy(to, (Date.parse(`${time}Z`) - Date.parse(`${first}Z`)) / 1000)
}

/** The earliest time of some photos. */
export function earliestOf(photos: readonly { readonly taken: string }[]): string {
  return photos.map(({ taken }) => taken.slice(0, 19)).reduce((one, other) => (other < one ? other : one))
}
