import { types } from 'pg'
import type { Value } from '../database.ts'
import { ColumnArray } from './batch.ts'

/** The types of our columns. */
export type ColumnType = 'bigint' | 'bytea' | 'text'

const HEADER_BYTES = 20
const oids: Record<ColumnType, number> = {
  bigint: types.builtins.INT8,
  bytea: types.builtins.BYTEA,
  text: types.builtins.TEXT,
}

export function isColumnType(type: string): type is ColumnType {
  return type in oids
}

/** Encodes one column of many rows; undefined if a value is not of its type. */
export function columnOf(
  rows: readonly (readonly Value[])[],
  index: number,
  type: ColumnType,
): ColumnArray | undefined {
  let length = HEADER_BYTES
  let hasNull = false
  for (const row of rows) {
    const size = sizeOf(row[index] ?? null, type)
    if (size === undefined) return undefined
    if (size < 0) hasNull = true
    length += 4 + Math.max(size, 0)
  }
  const bytes = Buffer.allocUnsafe(length)
  bytes.writeInt32BE(1, 0)
  bytes.writeInt32BE(hasNull ? 1 : 0, 4)
  bytes.writeInt32BE(oids[type], 8)
  bytes.writeInt32BE(rows.length, 12)
  bytes.writeInt32BE(1, 16)
  let offset = HEADER_BYTES
  for (const row of rows) offset = write(bytes, offset, row[index] ?? null)
  return new ColumnArray(bytes)
}

/** Encoded size in bytes; -1 for null, undefined for a value of another type. */
function sizeOf(value: Value, type: ColumnType): number | undefined {
  if (value === null) return -1
  if (type === 'bigint') return Number.isSafeInteger(value) ? 8 : undefined
  if (type === 'bytea') return value instanceof Uint8Array ? value.length : undefined
  return typeof value === 'string' ? Buffer.byteLength(value) : undefined
}

function write(bytes: Buffer, offset: number, value: Value): number {
  if (value === null) return bytes.writeInt32BE(-1, offset)
  if (typeof value === 'number') {
    bytes.writeInt32BE(8, offset)
    return bytes.writeBigInt64BE(BigInt(value), offset + 4)
  }
  const length = typeof value === 'string' ? bytes.write(value, offset + 4) : value.length
  if (typeof value !== 'string') bytes.set(value, offset + 4)
  bytes.writeInt32BE(length, offset)
  return offset + 4 + length
}
