import type { Value } from '../../platform/database/index.ts'

/** An SQL fragment with its parameters. */
export interface Sql {
  readonly text: string
  readonly values: readonly Value[]
}

export function sql(parts: readonly string[], ...values: readonly (Value | Sql)[]): Sql {
  let text = parts[0] ?? ''
  const flat: Value[] = []
  for (const [index, value] of values.entries()) {
    const isSql = typeof value === 'object' && value !== null && 'text' in value
    text += (isSql ? value.text : '?') + (parts[index + 1] ?? '')
    flat.push(...(isSql ? value.values : [value]))
  }
  return { text, values: flat }
}

export const raw = (text: string): Sql => ({ text, values: [] })

// Inlined: with a parameter, SQLite would plan the statement again on each use.
export const number = (value: number): Sql => raw(String(value))

export function joined(parts: readonly Sql[], by: string): Sql {
  return { text: parts.map(({ text }) => text).join(by), values: parts.flatMap(({ values }) => values) }
}
