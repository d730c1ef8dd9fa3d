import Papa from 'papaparse'

/** More would make the page slow. The file can be downloaded. */
const MAX_ROWS = 2000
const MAX_COLUMNS = 100

/** The cells of a CSV file, padded to the same number in each row. */
interface CellTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Whether rows or columns are missing. */
  readonly isCut: boolean
}

/** Parses CSV or TSV. The first row is the head. The delimiter is detected, because many programs write semicolons. */
export function parseDelimited(text: string): CellTable {
  const { data, meta } = Papa.parse<string[]>(text, { preview: MAX_ROWS + 2, skipEmptyLines: 'greedy' })
  const columns = Math.min(
    MAX_COLUMNS,
    data.reduce((most, { length }) => Math.max(most, length), 0),
  )
  const padded = data
    .slice(0, MAX_ROWS + 1)
    .map((row) => Array.from({ length: columns }, (_, column) => row[column] ?? ''))
  const [head = [], ...rows] = padded
  const isCut =
    meta.truncated || data.length > MAX_ROWS + 1 || data.some(({ length }) => length > MAX_COLUMNS)
  return { head, rows, isCut }
}
