/** More would take long to send to the page. The file can be downloaded. */
const MAX_ROWS = 100_000
const MAX_COLUMNS = 200
const MAX_LENGTH = 2000

/** One sheet of a workbook as texts. */
export interface ParsedSheet {
  readonly name: string
  readonly rows: readonly (readonly string[])[]
  readonly columns: number
  /** Whether rows or columns are missing. */
  readonly isCut: boolean
}

/** The cells of a sheet as they are shown. */
export function sheetOf(name: string, rows: readonly (readonly unknown[])[]): ParsedSheet {
  const widest = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const columns = Math.min(MAX_COLUMNS, widest)
  return {
    name,
    rows: rows.slice(0, MAX_ROWS).map((row) => row.slice(0, columns).map(textOf)),
    columns,
    isCut: rows.length > MAX_ROWS || widest > MAX_COLUMNS,
  }
}

function textOf(value: unknown): string {
  // Spreadsheets store local times without a zone, which the library reads as UTC.
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : dateText(value)
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return isText ? String(value).slice(0, MAX_LENGTH) : ''
}

function dateText(date: Date): string {
  const [day = '', time = ''] = date.toISOString().split('T')
  return time.startsWith('00:00:00') ? day : `${day} ${time.slice(0, 5)}`
}

/** The name of a column: A to Z, then AA and so on. */
export function columnName(index: number): string {
  const rest = Math.floor(index / 26)
  return (rest > 0 ? columnName(rest - 1) : '') + String.fromCharCode(65 + (index % 26))
}
