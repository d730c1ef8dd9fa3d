import { figure } from './figure.ts'
import type { DatabaseKind, Finding, Target } from './row.ts'

export const databaseNames: Record<DatabaseKind, string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

const titles = [
  'Work',
  'Database',
  'Measured',
  'p50 ms',
  'p99 ms',
  'CPU s',
  'Peak MB',
  'Raw limit',
  'Target',
  'Met',
]
/** Right-aligned columns. */
const toTheRight = new Set([2, 3, 4, 5, 6])

/** All findings as plain text in aligned columns. */
export function plainTable(findings: readonly Finding[]): string {
  const lines = [titles, ...findings.map(cellsOf)]
  const widths = titles.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)))
  const aligned = lines.map((cells) =>
    cells
      .map((cell, at) => (toTheRight.has(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  aligned.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
  return `${aligned.join('\n')}\n`
}

/** All findings as a Markdown table. */
export function markdownTable(findings: readonly Finding[]): string {
  const rule = titles.map((_, at) => (toTheRight.has(at) ? '---:' : '---'))
  const lines = [titles, rule, ...findings.map(cellsOf)]
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function cellsOf(finding: Finding): string[] {
  const { what, database, value, unit, p50Ms, p99Ms, usage, limit, target, met, bare } = finding
  return [
    what,
    bare ? '–' : databaseNames[database],
    `${figure(value)} ${unit}`,
    p50Ms === undefined ? '' : figure(p50Ms),
    p99Ms === undefined ? '' : figure(p99Ms),
    usage === undefined ? '' : figure(usage.cpuSeconds),
    usage === undefined ? '' : figure(usage.peakBytes / 1e6),
    limit === undefined ? '' : `${figure(limit.value)} ${limit.of} (${ratio(value, limit.value)})`,
    target === undefined ? '' : targetText(target, unit),
    met === undefined ? '' : met ? 'yes' : 'NO',
  ]
}

function targetText(target: Target, unit: string): string {
  return 'atLeast' in target ? `≥ ${figure(target.atLeast)} ${unit}` : `≤ ${figure(target.atMost)} ${unit}`
}

function ratio(value: number, limit: number): string {
  return `× ${(value / limit).toPrecision(2)}`
}
