import type { QueryConfig } from 'pg'
import type { Value } from '../database.ts'
import { numberPlaceholders } from './placeholders.ts'

// A name makes the server keep the plan on each connection for good, so only the first texts seen
// get one. Texts of varying length (long lists of ids) would otherwise pile up.
const namedStatements = 500

/** Turns our texts into the driver's, each worked out once. */
export class Statements {
  readonly #known = new Map<string, { text: string; name: string }>()

  query(sql: string, values: readonly Value[]): QueryConfig {
    const known = this.#known.get(sql)
    if (known) return { ...known, values: [...values] }
    const text = numberPlaceholders(sql)
    if (this.#known.size >= namedStatements) return { text, values: [...values] }
    const statement = { text, name: `carrel_${this.#known.size + 1}` }
    this.#known.set(sql, statement)
    return { ...statement, values: [...values] }
  }
}
