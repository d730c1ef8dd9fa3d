import type { Row, Value } from './database.ts'

/** What an answer is found again by, for one statement. */
export type Key = string | number | null

/**
 * The key of some parameters. Types apart: 1 and '1' are different questions. Most have one parameter, which is its own key; a
 * text that could be taken for the key of something else is not.
 */
export function keyOf(parameters: readonly Value[]): Key {
  const [only] = parameters
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
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/** Of what is in an answer; of a large one no more than that it is. */
export function bytesOf(rows: readonly Row[], largest: number): number {
  let bytes = 0
  for (const row of rows) {
    bytes += bytesOfRow(row)
    if (bytes > largest) break
  }
  return bytes
}

export function bytesOfRow(row: Row): number {
  let bytes = 0
  for (const name in row) {
    const value = row[name]
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
  }
  return bytes
}
