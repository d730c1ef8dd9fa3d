import type { Row, Value } from '../database.ts'
import type { Connection } from './connection.ts'

const MOST_BYTES = 2 * 2 ** 20
const LARGEST_BYTES = 8 * 1024
/** What an answer takes besides what is in it, roughly. */
const ANSWER_BYTES = 200
const MOST_PARAMETERS = 8

type Key = string | number | null

let commits = 0

/**
 * What was looked up since the database last changed. SQLite tells a connection whether anybody else, in this process or
 * another, has committed: as long as nobody has, a row read before is the row. A request looks up its account, its
 * library and its ticket, and most of them are those of the request before it.
 *
 * Asking SQLite takes longer than all look-ups of a request together, so it is asked once a turn of the event loop:
 * whatever a turn works on had arrived when it began, so nothing in it can have heard of what another process did
 * meanwhile. Of the commits of this process, through whichever connection, it is told at once.
 */
export class ReadCache {
  readonly #connection: Connection
  readonly #rows: Answers<Row | undefined>
  readonly #lists: Answers<readonly Row[]>
  #version = -1
  /** The number of the turn, and of commits, when SQLite was asked. */
  #turn = -1
  #commits = -1
  /** Until the program waits for anything, the turn need not be asked for either. */
  #isFresh = false

  /** Nobody may write through the connection: its own changes do not show. */
  constructor(connection: Connection) {
    this.#connection = connection
    this.#rows = new Answers((sql, parameters) => connection.get(sql, parameters))
    this.#lists = new Answers((sql, parameters) => connection.all(sql, parameters))
  }

  /** To be told of what this process committed. */
  static noteCommit(): void {
    commits += 1
  }

  /** The row is shared: nobody may change it. */
  get(sql: string, parameters: readonly Value[]): Row | undefined {
    if (!this.#isFresh || this.#commits !== commits) this.#refresh()
    return this.#rows.find(sql, parameters)
  }

  /** The rows are shared: nobody may change one. The list is the caller's. */
  all(sql: string, parameters: readonly Value[]): Row[] {
    if (!this.#isFresh || this.#commits !== commits) this.#refresh()
    return this.#lists.find(sql, parameters).slice()
  }

  #refresh(): void {
    // Counted up before the loop looks for what has arrived.
    const turn = performance.nodeTiming.uvMetricsInfo.loopCount
    if (turn !== this.#turn || this.#commits !== commits) this.#ask()
    this.#turn = turn
    this.#commits = commits
    this.#isFresh = true
    process.nextTick(this.#wait)
  }

  #ask(): void {
    const version = this.#connection.dataVersion()
    if (version === this.#version) return
    this.#version = version
    this.#rows.clear()
    this.#lists.clear()
  }

  readonly #wait = (): void => {
    this.#isFresh = false
  }
}

/** Answers by statement and parameters, small ones only. */
class Answers<Answer extends Row | undefined | readonly Row[]> {
  readonly #read: (sql: string, parameters: readonly Value[]) => Answer
  readonly #known = new Map<string, Map<Key, { readonly answer: Answer }>>()
  #bytes = 0

  constructor(read: (sql: string, parameters: readonly Value[]) => Answer) {
    this.#read = read
  }

  find(sql: string, parameters: readonly Value[]): Answer {
    if (parameters.length > MOST_PARAMETERS) return this.#read(sql, parameters)
    const key = keyOf(parameters)
    const known = this.#known.get(sql)?.get(key)
    if (known !== undefined) return known.answer
    const answer = this.#read(sql, parameters)
    const bytes = bytesOf(answer)
    if (bytes <= LARGEST_BYTES) this.#remember(sql, key, answer, bytes)
    return answer
  }

  clear(): void {
    if (this.#bytes === 0) return
    this.#known.clear()
    this.#bytes = 0
  }

  #remember(sql: string, key: Key, answer: Answer, bytes: number): void {
    if (this.#bytes >= MOST_BYTES) this.clear()
    this.#bytes += bytes + ANSWER_BYTES
    const answers = this.#known.get(sql)
    if (answers === undefined) this.#known.set(sql, new Map([[key, { answer }]]))
    else answers.set(key, { answer })
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

/** Of what is in an answer; of a large one no more than that it is. */
function bytesOf(answer: Row | undefined | readonly Row[]): number {
  if (answer === undefined) return 0
  if (!Array.isArray(answer)) return bytesOfRow(answer as Row)
  let bytes = 0
  for (const row of answer as readonly Row[]) {
    bytes += bytesOfRow(row)
    if (bytes > LARGEST_BYTES) break
  }
  return bytes
}

function bytesOfRow(row: Row): number {
  let bytes = 0
  for (const name in row) {
    const value = row[name]
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
  }
  return bytes
}
