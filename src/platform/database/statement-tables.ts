import type { CachedQuery } from './row-cache.ts'
import type { TableGraph } from './table-graph.ts'

const QUERY = /^\s*(?:select|with)\b/i
const CHANGE = /^\s*(?:insert|update|delete|replace)\b/i
const WRITES = /\b(?:insert|update|delete|merge|truncate)\b|\breplace\s+into\b/i
/** `select … into t` makes a table. */
const SELECTS_INTO = /^\s*(?:select|with)\b(?!.*\binsert\b).*\binto\b/is
const DELETES = /\b(?:delete|replace)\b/i
/** A statement that writes to one table, named first. */
const TARGET = /^\s*(?:insert\s+into|update|delete\s+from)\s+["`[]?(\w+)["`\]]?(?=[\s(]|$)/i
/** What decides besides rows: time, chance, the connection, the catalogue. */
const VOLATILE = new RegExp(
  [
    String.raw`\b(?:pg_\w+|sqlite_\w+|information_schema|txid_\w+|current_\w+|local(?:time|timestamp)|now|random\w*)\b`,
    String.raw`\b(?:(?:clock|statement|transaction)_timestamp|timeofday|gen_random_\w+|uuid\w*|nextval|currval|lastval)\b`,
    String.raw`\b(?:set_config|setval|last_insert_rowid|total_changes|changes|version)\s*\(`,
    String.raw`\b(?:date|time|datetime|julianday|unixepoch|strftime|timediff)\s*\(`,
  ].join('|'),
  'i',
)

/**
 * Which tables a statement reads or changes, found in its text. It errs on the side of too many: a word in a string or a comment
 * counts as a name. Neither dialect's driver runs more than one statement of a text.
 */
export class StatementTables {
  readonly sql: string
  /** It reads rows and changes nothing. */
  readonly isQuery: boolean
  /** Neither a query nor a change of rows, such as `create table`: it may change anything, also the graph. */
  readonly isOther: boolean
  #graph: TableGraph | undefined
  #query: CachedQuery | undefined
  #changes: readonly string[] | undefined

  constructor(sql: string) {
    this.sql = sql
    const selectsInto = SELECTS_INTO.test(sql)
    this.isQuery = QUERY.test(sql) && !WRITES.test(sql) && !selectsInto
    this.isOther = selectsInto || !(QUERY.test(sql) || CHANGE.test(sql))
  }

  /** The statement as a key of the cache. Undefined if more than the rows of known tables decides what it finds. */
  cachedQuery(graph: TableGraph): CachedQuery | undefined {
    this.#analyse(graph)
    return this.#query
  }

  /** The tables it may change, foreign keys included. Undefined for any. */
  changes(graph: TableGraph): readonly string[] | undefined {
    this.#analyse(graph)
    return this.#changes
  }

  #analyse(graph: TableGraph): void {
    if (graph === this.#graph) return
    this.#graph = graph
    const { sql } = this
    if (this.isQuery) {
      const tables = VOLATILE.test(sql) ? undefined : graph.namedIn(sql)
      this.#query = tables === undefined || tables.length === 0 ? undefined : { sql, tables }
      this.#changes = []
    } else {
      this.#query = undefined
      this.#changes = this.isOther ? undefined : changedTables(sql, graph)
    }
  }
}

function changedTables(sql: string, graph: TableGraph): readonly string[] | undefined {
  const target = TARGET.exec(sql)?.[1]?.toLowerCase()
  const isSimple = target !== undefined && graph.has(target) && !writesTwice(sql)
  const tables = isSimple ? [target] : graph.namedIn(sql)
  if (tables === undefined || tables.length === 0) return undefined
  return graph.affectedBy(tables, { deletes: DELETES.test(sql) })
}

/** Whether something besides the first words writes, `on conflict … do update` apart. */
function writesTwice(sql: string): boolean {
  const rest = sql.replace(/^\s*\w+/, '').replace(/\bdo\s+update\b/gi, '')
  return WRITES.test(rest)
}
