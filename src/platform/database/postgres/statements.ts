import { createHash } from 'node:crypto'
import { StatementTables } from '../statement-tables.ts'

// A quoted string, a quoted name, a comment, or a bare question mark.
const pieces = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g

/** Numbers the `?` of a statement as PostgreSQL wants them, leaving those in quotes and comments. */
export function numberPlaceholders(sql: string): string {
  let count = 0
  return sql.replace(pieces, (piece) => (piece === '?' ? `$${++count}` : piece))
}

// The server keeps a named statement on each connection forever. So only repeated texts get a name, up to this many; texts of varying length
// (long lists of ids) would otherwise accumulate.
const NAMED = 500
const USES_BEFORE_NAME = 3
const KNOWN = 4000

const RUNS_BEFORE_QUICK = 3

/** A statement in the dialect of the server. */
export class Statement {
  readonly text: string
  readonly tables: StatementTables
  /** Name of the prepared statement; '' until it has one. */
  name = ''
  /** Whether its last result contained bytes and can be read in binary format. False until it has run once. */
  hasBinaryResult = false
  #uses = 0
  #quickRuns = 0

  constructor(sql: string, text = numberPlaceholders(sql)) {
    this.text = text
    this.tables = new StatementTables(sql)
  }

  /** A statement that always has a name, written in the dialect of the server. */
  static named(prefix: string, text: string): Statement {
    const statement = new Statement(text, text)
    statement.prepare(prefix)
    return statement
  }

  /** Gives it a name. A name contains the hash of its text, so that sessions which nodes of several versions share never run another statement. */
  prepare(prefix: string): void {
    this.name = `${prefix}_${createHash('sha256').update(this.text).digest('hex').slice(0, 16)}`
  }

  /** Whether its last runs were fast. */
  get isQuick(): boolean {
    return this.#quickRuns >= RUNS_BEFORE_QUICK
  }

  /** Records whether a run of it, or of its batch, was fast. */
  noteRun(isQuick: boolean): void {
    this.#quickRuns = isQuick ? this.#quickRuns + 1 : 0
  }

  countUse(): number {
    return ++this.#uses
  }
}

/** Bounded cache of translated statements. */
export class Statements {
  readonly #known = new Map<string, Statement>()
  #named = 0

  of(sql: string): Statement {
    const known = this.#known.get(sql)
    const statement = known ?? new Statement(sql)
    if (known === undefined) this.#remember(sql, statement)
    if (statement.name === '' && this.#named < NAMED && statement.countUse() >= USES_BEFORE_NAME) {
      this.#named += 1
      statement.prepare('carrel')
    }
    return statement
  }

  #remember(sql: string, statement: Statement): void {
    if (this.#known.size >= KNOWN) {
      for (const [text, { name }] of this.#known) if (name === '') this.#known.delete(text)
    }
    if (this.#known.size < KNOWN) this.#known.set(sql, statement)
  }
}
