import { type DatabaseKind, type Row, speedRatio, type Unit } from './row.ts'
import { databaseNames } from './table.ts'

/** One row of a comparison: the same work with and without a setting, or of two commits. */
export interface TwinFinding {
  readonly scenario: string
  readonly database: DatabaseKind
  readonly what: string
  readonly unit: Unit
  /** Medians of all rounds. */
  readonly base: number
  readonly twin: number
  /** Speed of the twin as a multiple of the base, above 1 if it is faster: the median of the rounds, the lowest and the highest. */
  readonly ratio: number
  readonly lowest: number
  readonly highest: number
}

/** The rows of one round. */
export interface TwinRound {
  readonly base: readonly Row[]
  readonly twin: readonly Row[]
}

/** Compares rows by name. Rows of the machine itself, and those that only one of the two has, are left out. */
export function compareRounds(
  scenario: string,
  database: DatabaseKind,
  rounds: readonly TwinRound[],
): TwinFinding[] {
  const [first] = rounds
  const isCompared = ({ what, bare }: Row) => bare !== true && first?.twin.some((row) => row.what === what)
  const rows = first?.base.filter(isCompared) ?? []
  return rows.map(({ what, unit }) => {
    const pairs = rounds.map(({ base, twin }) => [valueOf(base, what), valueOf(twin, what)] as const)
    const ratios = pairs.map(([base, twin]) => speedRatio({ value: twin, unit }, base))
    return {
      scenario,
      database,
      what,
      unit,
      base: middle(pairs.map(([base]) => base)),
      twin: middle(pairs.map(([, twin]) => twin)),
      ratio: middle(ratios),
      lowest: Math.min(...ratios),
      highest: Math.max(...ratios),
    }
  })
}

/** All comparisons as a Markdown table, which is legible as plain text too. */
export function twinTable(
  [baseName, twinName]: readonly [string, string],
  findings: readonly TwinFinding[],
): string {
  const lines = findings.map(({ what, database, unit, base, twin, ratio, lowest, highest }) => [
    what,
    databaseNames[database],
    `${figure(base)} ${unit}`,
    `${figure(twin)} ${unit}`,
    `× ${ratio.toFixed(2)}`,
    `${lowest.toFixed(2)} to ${highest.toFixed(2)}`,
  ])
  const head = ['Work', 'Database', baseName, twinName, 'Speed', 'Range of the rounds']
  const rule = ['---', '---', '---:', '---:', '---:', '---']
  return `${[head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function valueOf(rows: readonly Row[], what: string): number {
  return rows.find((row) => row.what === what)?.value ?? Number.NaN
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) / 2
  return ((sorted[Math.floor(at)] ?? Number.NaN) + (sorted[Math.ceil(at)] ?? Number.NaN)) / 2
}

function figure(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2 })
}
