const MOST_KNOWN = 1000

// `with` may begin anything; a row that is deleted takes those of other tables along.
const writes = /^\s*(?:insert\s+into|update)\s+(\w+)/i
const reads = /^\s*select\b/i

/** The table each statement writes to; null for none, undefined where that cannot be told. */
const known = new Map<string, string | null | undefined>()

/** The tables that a transaction wrote to. */
export class ChangedTables {
  readonly #names = new Set<string>()
  #anything = false

  /** Undefined if it could be any. */
  get names(): ReadonlySet<string> | undefined {
    return this.#anything ? undefined : this.#names
  }

  /** To be told of each statement that may have changed something. */
  note(sql: string): void {
    const table = tableOf(sql)
    if (table === undefined) this.#anything = true
    else if (table !== null) this.#names.add(table)
  }
}

function tableOf(sql: string): string | null | undefined {
  if (known.has(sql)) return known.get(sql)
  const table = reads.test(sql) ? null : writes.exec(sql)?.[1]
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(sql, table)
  return table
}
