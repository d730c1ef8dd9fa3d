/** A table whose rows the database changes by itself (`on delete cascade`, `set null` …) when rows of another change. */
export interface ForeignKeyAction {
  readonly parent: string
  readonly child: string
  readonly on: 'delete' | 'update'
}

interface TableGraphParts {
  readonly tables: Iterable<string>
  /** Tables with triggers or rules: a write to one may change anything. */
  readonly triggered: Iterable<string>
  /** Views, partitions, virtual tables: whatever shows rows of tables with other names. */
  readonly derived: Iterable<string>
  readonly actions: Iterable<ForeignKeyAction>
}

/** The tables of a database, and how a change of one spreads to others. */
export class TableGraph {
  readonly #tables: ReadonlySet<string>
  readonly #triggered: ReadonlySet<string>
  readonly #derived: ReadonlySet<string>
  readonly #onUpdate = new Map<string, Set<string>>()
  readonly #onDelete = new Map<string, Set<string>>()
  readonly #affected = new Map<string, readonly string[] | undefined>()
  /** False if a name could be written in a way that is not found in a statement. */
  readonly #isReadable: boolean

  constructor({ tables, triggered, derived, actions }: TableGraphParts) {
    this.#tables = lowerCase(tables)
    this.#triggered = lowerCase(triggered)
    this.#derived = lowerCase(derived)
    for (const { parent, child, on } of actions) {
      // A deletion can update rows of a child (`set null`), which in turn can update rows of others.
      addTo(this.#onDelete, parent.toLowerCase(), child.toLowerCase())
      if (on === 'update') addTo(this.#onUpdate, parent.toLowerCase(), child.toLowerCase())
    }
    this.#isReadable = [...this.#tables, ...this.#derived].every((name) => /^\w+$/.test(name))
  }

  has(table: string): boolean {
    return this.#isReadable && this.#tables.has(table.toLowerCase())
  }

  /** The tables a statement names, and perhaps more. Undefined if they cannot be told from its text. */
  namedIn(sql: string): readonly string[] | undefined {
    // PostgreSQL takes names with escapes: U&"\0069tem".
    if (!this.#isReadable || /\bu&"/i.test(sql)) return undefined
    const named: string[] = []
    for (const word of new Set(sql.toLowerCase().match(/\w+/g))) {
      if (this.#derived.has(word)) return undefined
      if (this.#tables.has(word)) named.push(word)
    }
    return named
  }

  /** The tables that change when rows of the given ones are written or deleted. Undefined for any. */
  affectedBy(tables: readonly string[], { deletes }: { deletes: boolean }): readonly string[] | undefined {
    const key = `${deletes}:${tables.join()}`
    if (!this.#affected.has(key)) this.#affected.set(key, this.#spread(tables, deletes))
    return this.#affected.get(key)
  }

  #spread(tables: readonly string[], deletes: boolean): readonly string[] | undefined {
    const children = deletes ? this.#onDelete : this.#onUpdate
    const affected = new Set(tables)
    // A set also iterates over what is added meanwhile.
    for (const table of affected) {
      if (this.#triggered.has(table)) return undefined
      for (const child of children.get(table) ?? []) affected.add(child)
    }
    return [...affected]
  }
}

function lowerCase(names: Iterable<string>): ReadonlySet<string> {
  return new Set(Array.from(names, (name) => name.toLowerCase()))
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, new Set([value]))
  else values.add(value)
}
