import { createHash } from 'node:crypto'
import type { Value } from '../../platform/database/index.ts'

/** The number of rows of a table, and a hash of their content that does not depend on their order. */
interface TableDigest {
  readonly rows: number
  /** 64 hexadecimal digits. */
  readonly hash: string
}

const BITS = 256
const HEX_DIGITS = BITS / 4

/**
 * Adds up the SHA-256 of every row. Databases return rows in different orders, and sorting them would take memory or time. The sum is a checksum: it
 * detects rows that were lost, duplicated or corrupted. It is not collision resistant against chosen rows.
 */
export async function digestRows(pages: AsyncIterable<readonly Value[][]>): Promise<TableDigest> {
  let rows = 0
  let sum = 0n
  for await (const page of pages) {
    let ofPage = 0n
    for (const row of page) ofPage += BigInt(`0x${hashOf(row)}`)
    rows += page.length
    sum = BigInt.asUintN(BITS, sum + ofPage)
  }
  return { rows, hash: sum.toString(16).padStart(HEX_DIGITS, '0') }
}

/** A JSON line in which bytes are replaced by their length, then the bytes: no two rows have the same encoding. */
function hashOf(row: readonly Value[]): string {
  const hash = createHash('sha256')
  hash.update(JSON.stringify(row.map((value) => (value instanceof Uint8Array ? [value.length] : value))))
  for (const value of row) if (value instanceof Uint8Array) hash.update(value)
  return hash.digest('hex')
}
