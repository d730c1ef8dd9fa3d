// For values that are validated after the library was opened, because errors about the library come first.

/** An integer, clamped to the safe range; undefined for any other text. */
export function parseInteger(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*[+-]?\d+\s*$/.test(text)) return undefined
  // Adding 0 turns -0 into 0.
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text))) + 0
}

/** Text that can be stored; undefined if it contains NUL or a lone surrogate. */
export function parseText(text: string): string | undefined {
  return text.isWellFormed() && !text.includes('\0') ? text : undefined
}

const isoForm =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d))?(?:\.\d+)?(?:(Z)|([+\- ])(\d\d):?(\d\d))?)?$/i

/**
 * A time as ISO 8601, in whole Unix seconds; UTC without a zone. A plus sign that arrived as a
 * space, because it was not escaped, is accepted. A date alone means the start of the day, or its end if
 * `dayEnds`. Undefined for anything else.
 */
export function parseTime(text: string, { dayEnds = false } = {}): number | undefined {
  const [whole, date, clock = dayEnds ? '23:59' : '00:00', seconds, zulu, sign, hours, minutes] =
    isoForm.exec(text) ?? []
  if (whole === undefined) return undefined
  const zone = zulu || sign === undefined ? 'Z' : `${sign === '-' ? '-' : '+'}${hours}:${minutes}`
  const isDate = whole === date
  const at = Date.parse(`${date}T${clock}:${seconds ?? (isDate && dayEnds ? '59' : '00')}${zone}`)
  // Date.parse accepts February 30 as March 2.
  const exists = new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date ?? '') ?? false
  return exists && !Number.isNaN(at) ? Math.floor(at / 1000) : undefined
}
