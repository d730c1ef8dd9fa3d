// Control characters, and characters that reorder or hide text on a terminal (bidirectional marks, zero width).
const UNSAFE = /[\p{Cc}\p{Cs}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{2069}\u{feff}]/gu

/** Text of a server for a terminal: what could change the terminal or mislead its reader is escaped. */
export function shown(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
}

/** Prints lines, or one JSON document, which escapes control characters by itself. */
export function print(json: boolean, document: unknown, lines: readonly string[]): void {
  process.stdout.write(
    json ? `${JSON.stringify(document, null, 2)}\n` : lines.map((line) => `${shown(line)}\n`).join(''),
  )
}

/** A message beside the result. */
export function note(text: string): void {
  process.stderr.write(`${shown(text)}\n`)
}

/** Rows as columns, each as wide as its longest cell. The last one is not padded. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)))
  return rows.map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  '),
  )
}

/** `1.5 GB`, in steps of 1000. */
export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  const step = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${Number((bytes / 1000 ** step).toFixed(1))} ${units[step]}`
}

/** `2026-11-17 09:30`, local time. */
export function timeText(time: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`
}
