import { crc32 } from 'node:zlib'
import type { Value } from '../../platform/database/index.ts'
import { parseOwnJson } from './own-json.ts'

const MIN_BYTES = 8 * 1024
const MAX_BYTES = 256 * 1024
/** One row in this many ends a chunk. */
const ROWS_PER_CHUNK = 256

/** A JSON line per row, in which bytes are an array with their base64. */
function rowToLine(row: readonly Value[]): string {
  return `${JSON.stringify(row.map((value) => (value instanceof Uint8Array ? [base64Of(value)] : value)))}\n`
}

export function rowsFromChunk(chunk: Buffer): Value[][] {
  const text = chunk.toString('utf8')
  const lines = text.split('\n')
  lines.pop()
  return lines.map((line) =>
    parseOwnJson<(Exclude<Value, Uint8Array> | [string])[]>(line).map((value) =>
      Array.isArray(value) ? bytesOf(value[0]) : value,
    ),
  )
}

/**
 * Cuts the rows of a table into chunks. The content of a row decides whether a chunk ends after it, so that rows added, changed or removed
 * elsewhere leave most chunks as they were, and unchanged chunks are stored once.
 */
export class RowChunker {
  #lines: string[] = []
  #bytes = 0

  /** The finished chunk, if the row completes one. */
  push(row: readonly Value[]): Buffer | undefined {
    const line = rowToLine(row)
    this.#lines.push(line)
    this.#bytes += line.length
    const isCut = this.#bytes >= MIN_BYTES && crc32(line) % ROWS_PER_CHUNK === 0
    return isCut || this.#bytes >= MAX_BYTES ? this.end() : undefined
  }

  /** The rows that are left. */
  end(): Buffer | undefined {
    if (this.#lines.length === 0) return undefined
    const chunk = Buffer.from(this.#lines.join(''))
    this.#lines = []
    this.#bytes = 0
    return chunk
  }
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
}

function bytesOf(base64: string): Uint8Array {
  const bytes = Buffer.from(base64, 'base64')
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}
