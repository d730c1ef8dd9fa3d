import type { Value } from '../database.ts'

// The protocol counts parameters in 16 bits. Smaller chunks cost nothing and bound the size of a message.
const maxParameters = 16_384
const maxBytes = 4 * 2 ** 20

type Rows = readonly (readonly Value[])[]

/** Splits rows into chunks that each fit one statement. */
export function* chunksOf(rows: Rows, columnCount: number): Generator<Rows> {
  const maxRows = Math.max(1, Math.floor(maxParameters / columnCount))
  let start = 0
  let bytes = 0
  for (const [index, row] of rows.entries()) {
    const rowBytes = sizeOf(row)
    if (index > start && (index - start >= maxRows || bytes + rowBytes > maxBytes)) {
      yield rows.slice(start, index)
      start = index
      bytes = 0
    }
    bytes += rowBytes
  }
  if (start < rows.length) yield rows.slice(start)
}

/**
 * Sorts rows, so that concurrent transactions insert equal keys in one order (no deadlock).
 */
export function inKeyOrder(rows: Rows): Rows {
  return rows.length < 2 ? rows : rows.toSorted(compareRows)
}

function compareRows(a: readonly Value[], b: readonly Value[]): number {
  for (const [i, value] of a.entries()) {
    const order = compareValues(value, b[i] ?? null)
    if (order !== 0) return order
  }
  return 0
}

function compareValues(a: Value, b: Value): number {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0
  return (a === null ? 0 : 1) - (b === null ? 0 : 1)
}

function sizeOf(row: readonly Value[]): number {
  let bytes = 0
  for (const value of row) {
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
  }
  return bytes
}
