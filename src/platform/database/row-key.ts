import type { Row, Value } from './database.ts'

/** Key of cached rows among those of one statement, made of its parameters. */
export type RowKey = string | number | null

/**
 * The key of some parameters. Types are distinguished: 1 and '1' have different keys. A single parameter is its own key, unless it
 * is a text that could be confused with the key of several.
 */
export function rowKey(parameters: readonly Value[]): RowKey {
  if (parameters.length === 0) return ''
  // Not destructured, which would make an iterator at each read.
  const only = parameters[0]
  if (parameters.length === 1 && only !== undefined) {
    if (only === null || typeof only === 'number') return only
    if (typeof only === 'string' && !only.startsWith('\0')) return only
  }
  let key = ''
  for (const value of parameters) {
    if (typeof value === 'string') key += `\0s${value.length}:${value}`
    else if (value instanceof Uint8Array) key += `\0b${value.length}:${latin1(value)}`
    else key += `\0n${value}`
  }
  return key
}

function latin1(bytes: Uint8Array): string {
  // Asking a small buffer for its memory moves it out of the heap.
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('latin1')
}

/** Approximate size of the values of rows. Counting stops once it is above `limit`. */
export function bytesOf(rows: readonly Row[], limit: number): number {
  let bytes = 0
  for (const row of rows) {
    for (const name in row) {
      const value = row[name]
      bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
    }
    if (bytes > limit) break
  }
  return bytes
}
