/** A value of a row of the source. */
export type SourceValue = string | number | null

/** A row by column names in lower case. */
export type SourceRow = Readonly<Record<string, SourceValue>>

/** The tables of `ccnet`, `seafile` and `seahub` that are imported, in lower case. Others are skipped without being parsed. */
export const SOURCE_TABLES: ReadonlySet<string> = new Set([
  'emailuser',
  'ldapusers',
  'userrole',
  'group',
  'groupuser',
  'repo',
  'repoowner',
  'branch',
  'repohistorylimit',
  'repovalidsince',
  'repoinfo',
  'repotrash',
  'garbagerepos',
  'virtualrepo',
  'sharedrepo',
  'repogroup',
  'innerpubrepo',
  'userquota',
  'repousertoken',
  'repotokenpeerinfo',
  'profile_profile',
  'share_fileshare',
  'share_uploadlinkshare',
  'base_userstarredfiles',
  'api2_token',
  'api2_tokenv2',
])

/** Rows by table, in lower case. */
export class SourceRows {
  readonly #tables = new Map<string, SourceRow[]>()

  add(table: string, row: SourceRow): void {
    const rows = this.#tables.get(table)
    if (rows === undefined) this.#tables.set(table, [row])
    else rows.push(row)
  }

  /** Empty for a table that the source does not have. */
  of(table: string): readonly SourceRow[] {
    return this.#tables.get(table) ?? []
  }
}

export function textIn(row: SourceRow, column: string): string {
  const value = row[column]
  return value === null || value === undefined ? '' : String(value)
}

/** `otherwise` for null and for what is not a number. */
export function numberIn(row: SourceRow, column: string, otherwise = 0): number {
  const value = row[column]
  const number = value === null || value === undefined || value === '' ? Number.NaN : Number(value)
  return Number.isSafeInteger(number) ? number : otherwise
}

/** Booleans are 1, `1`, `true` or the byte 1, depending on the database. */
export function flagIn(row: SourceRow, column: string): boolean {
  return ['1', 'true', '\u0001'].includes(textIn(row, column))
}

/** Unix seconds of a date, which the source writes in UTC. Microseconds and seconds are understood, too. */
export function timeIn(row: SourceRow, column: string): number | undefined {
  const text = textIn(row, column)
  if (/^\d+$/.test(text)) return Math.floor(Number(text) / (text.length > 13 ? 1_000_000 : 1))
  const ms =
    text === ''
      ? Number.NaN
      : Date.parse(
          `${text
            .replace(' ', 'T')
            .replace(/(\.\d{3})\d+/, '$1')
            .replace(/(Z|[+-]\d\d:\d\d)$/, '')}Z`,
        )
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000)
}
