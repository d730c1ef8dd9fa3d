import type { Row, Value } from '../database.ts'
import type { Connection } from './connection.ts'

const MOST_ROWS = 2000
const LARGEST_BYTES = 8 * 1024

/**
 * Rows looked up since the database last changed. SQLite tells a connection in microseconds whether anybody else,
 * in this process or another, has committed: as long as nobody has, a row read before is the row. A request looks up
 * its account, its library and its ticket, and most of them are those of the request before it.
 */
export class ReadCache {
  readonly #connection: Connection
  readonly #rows = new Map<string, Row | undefined>()
  #version = -1
  /** Whether the version was looked at in this turn of the program. */
  #isFresh = false

  /** Nobody may write through the connection: its own changes do not show. */
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** The row is shared: nobody may change it. */
  get(sql: string, parameters: readonly Value[]): Row | undefined {
    if (!this.#isFresh) this.#look()
    const key = keyOf(sql, parameters)
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const row = this.#connection.get(sql, parameters)
    if (row === undefined || !isSmall(row)) return row
    if (this.#rows.size >= MOST_ROWS) this.#rows.clear()
    this.#rows.set(key, row)
    return row
  }

  /** To be told of what this process committed. */
  readonly forget = (): void => {
    this.#isFresh = false
  }

  // Until the program waits for something it cannot have heard of what others did meanwhile, so one look is enough.
  #look(): void {
    const version = this.#connection.dataVersion()
    if (version !== this.#version) {
      this.#rows.clear()
      this.#version = version
    }
    this.#isFresh = true
    process.nextTick(this.forget)
  }
}

function keyOf(sql: string, parameters: readonly Value[]): string {
  let key = sql
  for (const value of parameters) {
    // Types apart: 1 and '1' are different questions.
    if (typeof value === 'string') key += `\0s${value.length}:${value}`
    else if (value instanceof Uint8Array) key += `\0b${value.length}:${latin1(value)}`
    else key += `\0n${value}`
  }
  return key
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function isSmall(row: Row): boolean {
  let bytes = 0
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
  }
  return bytes <= LARGEST_BYTES
}
