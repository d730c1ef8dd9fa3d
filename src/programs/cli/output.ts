/** Prints the result of a command: one JSON document, or lines of text. */
export function print(json: boolean, document: unknown, lines: readonly string[]): void {
  process.stdout.write(
    json ? `${JSON.stringify(document, null, 2)}\n` : lines.map((line) => `${line}\n`).join(''),
  )
}

/** Formats rows as columns, each as wide as its longest cell. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)))
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** `1.5 GB`: steps of 1000, as quotas are set. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']
  const step = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${Number((bytes / 1000 ** step).toFixed(1))} ${units[step]}`
}
