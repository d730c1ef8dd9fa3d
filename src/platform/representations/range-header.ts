/** Bytes `start` up to, not including, `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The selected part of a representation: all, one or several spans, or none that exists. */
export type Selection =
  | { readonly kind: 'whole' }
  | { readonly kind: 'parts'; readonly spans: readonly Span[] }
  | { readonly kind: 'unsatisfiable' }

/** Maximum number of ranges in a request. With more, the whole representation is sent, which is cheaper. */
const maxRanges = 100

const whole: Selection = { kind: 'whole' }

/**
 * Parses a `Range` header (RFC 9110, 14.1.2) for a representation of `size` bytes. A header that is not a
 * byte range is ignored, and an empty representation is always sent whole. Ranges that overlap or touch are
 * merged; the others keep their order.
 */
export function selectRanges(header: string | undefined, size: number): Selection {
  if (header === undefined || size === 0) return whole
  const list = /^\s*bytes\s*=(.*)$/is.exec(header)?.[1]?.split(',')
  if (list === undefined) return whole
  const spans: Span[] = []
  let count = 0
  for (const entry of list) {
    const range = entry.trim()
    if (range === '') continue
    count += 1
    const span = count > maxRanges ? undefined : readRange(range, size)
    if (span === undefined) return whole
    if (span.start < span.end) addSpan(spans, span)
  }
  if (count === 0) return whole
  return spans.length === 0 ? { kind: 'unsatisfiable' } : { kind: 'parts', spans }
}

/** `a-b`, `a-` or `-n`, clamped to the size. Empty if it is outside, undefined if it is malformed. */
function readRange(text: string, size: number): Span | undefined {
  const [, first = '', last = ''] = /^(\d*)-(\d*)$/.exec(text) ?? []
  if (first === '') {
    return last === '' ? undefined : { start: Math.max(0, size - Number(last)), end: size }
  }
  if (last !== '' && Number(last) < Number(first)) return undefined
  return { start: Number(first), end: last === '' ? size : Math.min(Number(last) + 1, size) }
}

/** Existing spans neither overlap nor touch each other. This invariant is preserved. */
function addSpan(spans: Span[], added: Span): void {
  let at = -1
  let joined = added
  for (let index = spans.length - 1; index >= 0; index -= 1) {
    const span = spans[index]
    if (span === undefined || span.end < added.start || span.start > added.end) continue
    joined = { start: Math.min(joined.start, span.start), end: Math.max(joined.end, span.end) }
    if (at !== -1) spans.splice(at, 1)
    at = index
  }
  if (at === -1) spans.push(joined)
  else spans[at] = joined
}
