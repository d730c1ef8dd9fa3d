/** The permitted values of a documented field. */
export interface Kind {
  /** As the end of a sentence: "a string". */
  readonly words: string
  readonly holds: (value: unknown) => boolean
}

const kind = (words: string, holds: (value: unknown) => boolean): Kind => ({ words, holds })
const matching = (words: string, pattern: RegExp) =>
  kind(words, (value) => typeof value === 'string' && pattern.test(value))

export const text = kind('a string', (value) => typeof value === 'string')
export const filled = kind('a string', (value) => typeof value === 'string' && value !== '')
export const reason = kind('a string, empty unless it failed', (value) => value === '')
export const flag = kind('a boolean', (value) => typeof value === 'boolean')
export const integer = kind('an integer', (value) => Number.isSafeInteger(value))
export const bytes = kind('an integer, bytes', (value) => Number.isSafeInteger(value) && Number(value) >= 0)
export const list = kind('an array', (value) => Array.isArray(value))

// Within an hour of now: milliseconds, or another time zone, would be far outside.
const isRecent = (unixSeconds: number) => Math.abs(unixSeconds - Date.now() / 1000) < 3600
export const unixTime = kind(
  'an integer, Unix seconds',
  (value) => Number.isSafeInteger(value) && isRecent(Number(value)),
)
export const isoTime = kind('an ISO 8601 time with an offset from UTC', (value) => {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
  return typeof value === 'string' && form.test(value) && isRecent(Date.parse(value) / 1000)
})

export const plainOffsetTime = kind('an ISO 8601 time without a colon in its offset', (value) => {
  const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d)(\d\d)$/
  const [, start, minutes] = form.exec(String(value)) ?? []
  return start !== undefined && isRecent(Date.parse(`${start}:${minutes}`) / 1000)
})
export const path = matching('a path', /^\//)
export const shareType = matching('`d` for a folder, `f` for a file', /^[df]$/)
export const sizeText = matching('a string, empty for a folder', /^\d*$/)

export const libraryId = matching(
  'a string, the id of a library',
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
)
export const objectId = matching('a string of 40 hexadecimal digits', /^[0-9a-f]{40}$/)
export const account = matching(
  'a string, an account id in the form of an e-mail address',
  /^[^@\s]+@[^@\s]+$/,
)
export const timeElement = matching(
  'an HTML time element with a relative text',
  /^<time [^>]+>[^<]+<\/time>$/,
)
export const size = matching('a human-readable size', /^\d+(\.\d)?\u00a0(bytes?|[KMGTP]B)$/)
export const url = matching('a string, a URL', /^https?:\/\/\S+$/)

/** A kind whose value in this record is known. */
export const here = ({ words }: Kind, wanted: string | number | boolean) =>
  kind(words, (value) => value === wanted)

/** Exactly one value. */
export const exactly = (wanted: string | number | boolean) =>
  kind(`\`${JSON.stringify(wanted).replaceAll('"', '')}\``, (value) => value === wanted)

export const orNull = ({ words, holds }: Kind) =>
  kind(`${words}, or null`, (value) => value === null || holds(value))
