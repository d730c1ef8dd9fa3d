import type { Row, Value } from '../database.ts'
import type { Connection } from './connection.ts'

const MOST_ROWS = 2000
const LARGEST_BYTES = 8 * 1024

type Key = string | number | null

/**
 * Rows looked up since the database last changed. SQLite tells a connection whether anybody else, in this process or
 * another, has committed: as long as nobody has, a row read before is the row. A request looks up its account, its
 * library and its ticket, and most of them are those of the request before it.
 *
 * Asking SQLite takes longer than all look-ups of a request together, so it is asked once in a turn of the event loop, which
 * takes milliseconds: what another process commits meanwhile is seen in the next one, as if it had come that much later. Of
 * the commits of this process it is told at once.
 */
export class ReadCache {
  readonly #connection: Connection
  readonly #rows = new Map<string, Map<Key, Row>>()
  #count = 0
  #version = -1
  #isFresh = false

  /** Nobody may write through the connection: its own changes do not show. */
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** To be told of what this process committed. */
  readonly forget = (): void => {
    this.#isFresh = false
  }

  /** The row is shared: nobody may change it. */
  get(sql: string, parameters: readonly Value[]): Row | undefined {
    if (!this.#isFresh) this.#refresh()
    const key = keyOf(parameters)
    const known = this.#rows.get(sql)?.get(key)
    if (known !== undefined) return known
    const row = this.#connection.get(sql, parameters)
    if (row !== undefined && isSmall(row)) this.#remember(sql, key, row)
    return row
  }

  #refresh(): void {
    const version = this.#connection.dataVersion()
    if (version !== this.#version) this.#clear()
    this.#version = version
    this.#isFresh = true
    // Never unreferenced: the loop must not rest before it has run.
    setImmediate(this.forget)
  }

  #remember(sql: string, key: Key, row: Row): void {
    if (this.#count >= MOST_ROWS) this.#clear()
    this.#count += 1
    const rows = this.#rows.get(sql)
    if (rows === undefined) this.#rows.set(sql, new Map([[key, row]]))
    else rows.set(key, row)
  }

  #clear(): void {
    this.#rows.clear()
    this.#count = 0
  }
}

// Types apart: 1 and '1' are different questions. Most have one parameter, which is its own key; a text that could be
// taken for the key of something else is not.
function keyOf(parameters: readonly Value[]): Key {
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

function isSmall(row: Row): boolean {
  let bytes = 0
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
  }
  return bytes <= LARGEST_BYTES
}
