import { numberPlaceholders } from './placeholders.ts'
import type { Schema } from './schema.ts'

// A name makes the server keep the plan on each connection for good, so only texts that come again get
// one, and no more than this many. Texts of varying length (long lists of ids) would otherwise pile up.
const NAMED = 500
const USES_BEFORE_NAME = 3
const KNOWN = 4000

const RUNS_BEFORE_QUICK = 3

/** A text of ours as the server knows it. */
export class Statement {
  readonly text: string
  /** '' until it has one. */
  name = ''
  /** Neither a query nor a change of rows: it may change anything. */
  readonly isOther: boolean
  readonly isQuery: boolean
  readonly #sql: string
  #uses = 0
  #quickRuns = 0
  #schema: Schema | undefined
  #tables: readonly string[] = []

  constructor(sql: string, text = numberPlaceholders(sql)) {
    this.#sql = sql
    this.text = text
    const reads = /^\s*(?:select|with)\b/i.test(sql)
    this.isQuery = reads && !changes.test(sql)
    this.isOther = !reads && !/^\s*(?:insert|update|delete)\b/i.test(sql)
  }

  /** One that has a name of its own, and no parameters. */
  static named(name: string, text: string): Statement {
    const statement = new Statement(text, text)
    statement.name = name
    return statement
  }

  /** Tables it reads, or may change. */
  tables(schema: Schema): readonly string[] {
    if (schema !== this.#schema) {
      const named = schema.tablesIn(this.#sql)
      this.#tables = /\bdelete\b/i.test(this.#sql) ? schema.withFollowers(named) : named
      this.#schema = schema
    }
    return this.#tables
  }

  /** Whether rows of our tables alone decide what it finds. */
  readsOnlyTables(schema: Schema): boolean {
    return this.isQuery && this.tables(schema).length > 0 && !depends.test(this.#sql)
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

const changes = /\b(?:insert|update|delete)\b/i
const depends = /\b(?:pg_\w+|current_\w+|now|random|nextval|clock_timestamp)\b/i

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
