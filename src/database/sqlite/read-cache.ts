import { bytesOf, bytesOfRow, type Key, keyOf } from '../answers.ts'
import type { Row, Value } from '../database.ts'
import type { Connection } from './connection.ts'

const MOST_BYTES = 2 * 2 ** 20
const LARGEST_BYTES = 8 * 1024
/** What an answer takes besides what is in it, roughly. */
const ANSWER_BYTES = 200
const MOST_PARAMETERS = 8
const MOST_STATEMENTS = 500

let commits = 0

/**
 * What was looked up and has not changed since. A commit of our own says which tables it wrote to: what was read from
 * others is still so. And SQLite tells the connection that writes whether anybody else, in this process or another, has
 * committed. A request looks up its account, its library and its ticket, and most of them are those of the request before it.
 *
 * Asking SQLite takes longer than all look-ups of a request together, so it is asked once a turn of the event loop:
 * whatever a turn works on had arrived when it began, so nothing in it can have heard of what another process did
 * meanwhile. Of the commits of this process, through whichever connection, it is told at once.
 */
export class ReadCache {
  readonly #writer: Connection
  readonly #rows: Answers<Row | undefined>
  readonly #lists: Answers<readonly Row[]>
  #version: number | undefined
  /** The number of the turn, and of commits, when SQLite was asked. */
  #turn = -1
  #commits = -1
  /** Until the program waits for anything, the turn need not be asked for either. */
  #isFresh = false

  /** Rows are read through `reader`. Of what is written through `writer` it has to be told. */
  constructor(reader: Connection, writer: Connection) {
    this.#writer = writer
    this.#rows = new Answers((sql, parameters) => reader.get(sql, parameters))
    this.#lists = new Answers((sql, parameters) => reader.all(sql, parameters))
  }

  /** To be told of what this process committed, and of what could not be: others may have been first. */
  static noteCommit(): void {
    commits += 1
  }

  /** To be told which tables were written to, as soon as that is committed; undefined if it could be any. */
  forget(tables: ReadonlySet<string> | undefined): void {
    this.#rows.forget(tables)
    this.#lists.forget(tables)
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
    const version = this.#askVersion()
    if (version !== undefined && version === this.#version) return
    this.#version = version
    this.forget(undefined)
  }

  /** Undefined if it cannot be told: that connection waits for nobody. */
  #askVersion(): number | undefined {
    try {
      return this.#writer.dataVersion()
    } catch {
      return undefined
    }
  }

  readonly #wait = (): void => {
    this.#isFresh = false
  }
}

/** Answers by statement and parameters, small ones only. */
class Answers<Answer extends Row | undefined | readonly Row[]> {
  readonly #read: (sql: string, parameters: readonly Value[]) => Answer
  readonly #known = new Map<string, Map<Key, { readonly answer: Answer }>>()
  readonly #statements = new StatementsByTable()
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
    const bytes = sizeOf(answer)
    if (bytes <= LARGEST_BYTES) this.#remember(sql, key, answer, bytes)
    return answer
  }

  forget(tables: ReadonlySet<string> | undefined): void {
    if (this.#bytes === 0) return
    if (tables === undefined) this.#clear()
    else for (const table of tables) for (const sql of this.#statements.of(table)) this.#known.delete(sql)
  }

  #clear(): void {
    this.#known.clear()
    this.#bytes = 0
  }

  /** What one table made it forget is counted until all is forgotten. */
  #remember(sql: string, key: Key, answer: Answer, bytes: number): void {
    if (this.#bytes >= MOST_BYTES || this.#statements.isFull) {
      this.#clear()
      this.#statements.clear()
    }
    this.#bytes += bytes + ANSWER_BYTES
    const answers = this.#known.get(sql)
    if (answers !== undefined) {
      answers.set(key, { answer })
      return
    }
    this.#statements.add(sql)
    this.#known.set(sql, new Map([[key, { answer }]]))
  }
}

/** Statements by every word in them, and so by the tables they read. */
class StatementsByTable {
  readonly #all = new Set<string>()
  readonly #byWord = new Map<string, string[]>()

  get isFull(): boolean {
    return this.#all.size >= MOST_STATEMENTS
  }

  add(sql: string): void {
    if (this.#all.has(sql)) return
    this.#all.add(sql)
    for (const word of new Set(sql.match(/\w+/g))) {
      const statements = this.#byWord.get(word)
      if (statements === undefined) this.#byWord.set(word, [sql])
      else statements.push(sql)
    }
  }

  of(table: string): readonly string[] {
    return this.#byWord.get(table) ?? []
  }

  clear(): void {
    this.#all.clear()
    this.#byWord.clear()
  }
}

function sizeOf(answer: Row | undefined | readonly Row[]): number {
  if (answer === undefined) return 0
  return Array.isArray(answer) ? bytesOf(answer as readonly Row[], LARGEST_BYTES) : bytesOfRow(answer as Row)
}
