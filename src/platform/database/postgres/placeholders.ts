// A quoted string, a quoted name, a comment, or a bare question mark.
const pieces = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g

/** Numbers the `?` of a statement as PostgreSQL wants them, leaving those in quotes and comments. */
export function numberPlaceholders(sql: string): string {
  let count = 0
  return sql.replace(pieces, (piece) => (piece === '?' ? `$${++count}` : piece))
}
