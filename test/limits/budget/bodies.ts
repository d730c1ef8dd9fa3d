import type { Sent } from '../../api/matrix/policy.ts'
import type { Params } from '../../support/client.ts'
import { BOUNDARY } from '../../support/transfer.ts'

/** docs/limits.md: JSON depth, values and names. Some levels are those around the content. */
const JSON_DEPTH = 95
const JSON_VALUES = 199_000
const JSON_NAMES = 25_000
const JSON_DIFFERENT_NAMES = 2_000
/** A request head has 16 KiB. */
const QUERY_BYTES = 12_000
const FORM = 'application/x-www-form-urlencoded'

/** Bodies of at most `limit` bytes that take the most to parse, in all encodings. `field` is one that the route reads. */
export function unusualBodies(field = 'a', limit: number): Record<string, (sent: Sent) => Sent> {
  const list = (piece: string, most: number) => `{"${field}":[${filled(piece, ',', limit - 100, most)}]}`
  const nested = '['.repeat(JSON_DEPTH) + ']'.repeat(JSON_DEPTH)
  const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name=${field}\r\n\r\n\r\n`
  return {
    'nested JSON': withBody('application/json', list(nested, JSON_VALUES / JSON_DEPTH)),
    'many JSON values': withBody('application/json', list('0', JSON_VALUES)),
    'many JSON names': withBody('application/json', `{"${field}":[${named(limit - 100)}]}`),
    'many fields': withBody(FORM, filled(`${field}=`, '&', limit)),
    'many parts': withBody(
      `multipart/form-data; boundary=${BOUNDARY}`,
      `${filled(part, '', limit - 100)}--${BOUNDARY}--\r\n`,
    ),
  }
}

const withBody =
  (type: string, raw: string) =>
  ({ form: _form, json: _json, ...rest }: Sent): Sent => ({
    ...rest,
    raw,
    headers: { ...rest.headers, 'Content-Type': type },
  })

/** The permitted call with fields that fill the body. The character is escaped in JSON, HTML and URLs alike. */
export function longFields(permitted: Sent, fields: readonly string[], limit: number): Sent {
  const text = Object.entries(longValues(fields, '"', limit))
  return withBody(FORM, text.map(([field, value]) => `${field}=${value}`).join('&'))(permitted)
}

/** The permitted call with as much as a request head takes in its query. */
export function longQuery(permitted: Sent, fields: readonly string[]): Sent {
  return { ...permitted, query: { ...permitted.query, ...longValues(fields, '"', QUERY_BYTES / 3) } }
}

function longValues(fields: readonly string[], character: string, bytes: number): Record<string, string> {
  const each = Math.floor(bytes / Math.max(1, fields.length)) - 50
  return Object.fromEntries(fields.map((field) => [field, character.repeat(Math.max(1, each))]))
}

function filled(piece: string, separator: string, bytes: number, most = Number.POSITIVE_INFINITY): string {
  const count = Math.min(most, Math.floor(bytes / (piece.length + separator.length)))
  return Array.from({ length: Math.max(1, count) }, () => piece).join(separator)
}

/** Objects of ten names: as many different ones as are taken, which the parser learns one by one, then the first ones again. */
function named(bytes: number): string {
  const count = Math.min(JSON_NAMES, Math.floor(bytes / 11))
  const name = (n: number) => `"k${n % (JSON_DIFFERENT_NAMES - 1)}":0`
  return Array.from({ length: Math.floor(count / 10) }, (_, object) => {
    const members = Array.from({ length: 10 }, (__, n) => name(10 * object + n))
    return `{${members.join(',')}}`
  }).join(',')
}

/** docs/limits.md: items in a list. */
export const LIST_ITEMS = 20_000

/** The lists of the permitted call, with as many items as fit, which differ from those of the call as `vary` says. */
export function longLists(permitted: Sent, limit: number, vary: (text: string, n: number) => string): Sent {
  const { json } = permitted
  if (typeof json !== 'object' || json === null) return permitted
  const lists = Object.entries(json).filter(([, value]) => Array.isArray(value))
  const longer = lists.map(([field, [one]]: [string, unknown[]]) => {
    const count = Math.floor((limit - 1000) / (JSON.stringify(one).length + 14) / lists.length)
    const items = { length: Math.min(count, LIST_ITEMS) }
    return [field, Array.from(items, (_, n) => varied(one, (text) => vary(text, n)))]
  })
  return { ...permitted, json: { ...json, ...Object.fromEntries(longer) } }
}

/** The same value with other texts. */
function varied(value: unknown, vary: (text: string) => string): unknown {
  if (typeof value === 'string') return vary(value)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, varied(one, vary)]))
}

/** The query parameters that ask a list for as much as there is. */
export function wholePage(fields: readonly string[]): Params {
  const sizes = ['per_page', 'limit']
  return Object.fromEntries(
    fields.filter((field) => sizes.includes(field)).map((field) => [field, 1_000_000]),
  )
}
