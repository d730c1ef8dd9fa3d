import { crc32 } from 'node:zlib'
import type { Row } from './database.ts'

/**
 * Guards cached rows against callers that change them, for tests. Rows are frozen. Bytes cannot be frozen, so a checksum of them is
 * compared on each hit.
 */
export const guardsRows = process.env['CARREL_TEST_FREEZE_ROWS'] === '1'

/** Freezes the rows and returns the checksum of their bytes. */
export function freezeRows(rows: readonly Row[]): number {
  for (const row of rows) Object.freeze(row)
  Object.freeze(rows)
  return checksumOf(rows)
}

/** Throws if the bytes of the rows are not what they were when they were frozen. */
export function verifyRows(rows: readonly Row[], checksum: number, sql: string): void {
  if (checksumOf(rows) !== checksum) throw new Error(`The bytes of a cached row were changed: ${sql}`)
}

function checksumOf(rows: readonly Row[]): number {
  let checksum = 0
  for (const row of rows) {
    for (const value of Object.values(row)) {
      if (value instanceof Uint8Array) checksum = crc32(value, checksum)
    }
  }
  return checksum
}
