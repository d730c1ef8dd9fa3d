import { type CustomTypesConfig, types } from 'pg'
import type { Value } from '../database.ts'

const bytesType: number = types.builtins.BYTEA

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

const binaryParsers = new Map<number, (bytes: Buffer) => Value>([
  [types.builtins.BOOL, (bytes) => bytes.readUInt8()],
  [types.builtins.BYTEA, (bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)],
  [types.builtins.INT4, (bytes) => bytes.readInt32BE()],
  [types.builtins.INT8, readInteger],
  [types.builtins.TEXT, (bytes) => bytes.toString()],
])

function readInteger(bytes: Buffer): number {
  const number = bytes.readInt32BE() * 2 ** 32 + bytes.readUInt32BE(4)
  // The exact value is in the message.
  return Number.isSafeInteger(number) ? number : parseInteger(`${bytes.readBigInt64BE()}`)
}

/** Whether a result with these columns contains bytes and can be read in binary format. Text is as short for the other types. */
export function hasBinaryBytes(columns: readonly { readonly dataTypeID: number }[]): boolean {
  return (
    columns.some(({ dataTypeID }) => dataTypeID === bytesType) &&
    columns.every(({ dataTypeID }) => binaryParsers.has(dataTypeID))
  )
}

const asText = (text: string): Value => text

function refuseBinary(): never {
  throw new Error('The type of a column has changed.')
}

/** Reads columns as the `Value`s that SQLite would give: whole numbers, 0 and 1, plain bytes. */
export const valueTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: string) =>
    format === 'binary' ? (binaryParsers.get(oid) ?? refuseBinary) : (parsers.get(oid) ?? asText),
}
