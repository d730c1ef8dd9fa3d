import { StatementTables } from '../statement-tables.ts'
import { numberPlaceholders } from './placeholders.ts'

// A name makes the server keep the plan on each connection for good, so only texts that come again get
// one, and no more than this many. Texts of varying length (long lists of ids) would otherwise pile up.
const NAMED = 500
const USES_BEFORE_NAME = 3
const KNOWN = 4000

const RUNS_BEFORE_QUICK = 3

/** A text of ours as the server knows it. */
export class Statement {
  readonly text: string
  readonly tables: StatementTables
  /** '' until it has one. */
  name = ''
  #uses = 0
  #quickRuns = 0

  constructor(sql: string, text = numberPlaceholders(sql)) {
    this.text = text
    this.tables = new StatementTables(sql)
  }

  /** One that has a name of its own, and no parameters. */
  static named(name: string, text: string): Statement {
    const statement = new Statement(text, text)
    statement.name = name
    return statement
  }

  /** Whether it was quick so far. */
  get isQuick(): boolean {
    return this.#quickRuns >= RUNS_BEFORE_QUICK
  }

  /** To be told whether it was, or what it was sent with. */
  noteRun(isQuick: boolean): void {
    this.#quickRuns = isQuick ? this.#quickRuns + 1 : 0
  }

  countUse(): number {
    return ++this.#uses
  }
}

/** Turns our texts into the server's, each worked out once. */
export class Statements {
  readonly #known = new Map<string, Statement>()
  #named = 0

  of(sql: string): Statement {
    const known = this.#known.get(sql)
    const statement = known ?? new Statement(sql)
    if (known === undefined) this.#remember(sql, statement)
    if (statement.name === '' && this.#named < NAMED && statement.countUse() >= USES_BEFORE_NAME) {
      statement.name = `carrel_${++this.#named}`
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
