import { type CustomTypesConfig, types } from 'pg'
import type { Value } from '../database.ts'

const parsers = new Map<number, (text: string) => Value>([
  [types.builtins.BOOL, (text) => (text === 't' ? 1 : 0)],
  [types.builtins.BYTEA, parseBytes],
  [types.builtins.INT2, Number],
  [types.builtins.INT4, Number],
  [types.builtins.INT8, parseInteger],
  // What sum() of whole numbers comes as.
  [types.builtins.NUMERIC, (text) => (text.includes('.') ? Number(text) : parseInteger(text))],
  [types.builtins.FLOAT4, Number],
  [types.builtins.FLOAT8, Number],
])

function parseInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} does not fit a number without loss.`)
  return number
}

/** Reads both forms of `bytea_output`. It is not set for a session, because behind a pooler sessions are shared. */
function parseBytes(text: string): Uint8Array {
  const bytes = text.startsWith('\\x')
    ? Buffer.from(text.slice(2), 'hex')
    : Buffer.from(text.replace(/\\(?:\\|[0-7]{3})/g, unescapeByte), 'latin1')
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

function unescapeByte(escaped: string): string {
  return escaped === '\\\\' ? '\\' : String.fromCharCode(Number.parseInt(escaped.slice(1), 8))
}

const asText = (text: string): Value => text

/** Reads columns as the `Value`s that SQLite would give: whole numbers, 0 and 1, plain bytes. */
export const valueTypes: CustomTypesConfig = {
  getTypeParser: (oid: number) => parsers.get(oid) ?? asText,
}
