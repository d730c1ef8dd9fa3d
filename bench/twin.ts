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
  /** Speed of the twin as a multiple of the base, above 1 if it is faster. */
  readonly speed: Spread
  /** CPU time of the server for a request of the base as a multiple of that of the twin, so above 1 if the twin takes less. Undefined for other rows. */
  readonly cpu: Spread | undefined
}

/** A ratio: the median of the rounds, the lowest and the highest. */
interface Spread {
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
    const pairs = rounds.map(({ base, twin }) => [rowOf(base, what), rowOf(twin, what)] as const)
    const speeds = pairs.map(([base, twin]) => speedRatio({ value: valueOf(twin), unit }, valueOf(base)))
    const cpu = pairs.map(([base, twin], round) => cpuRatio(base, twin, speeds[round] ?? Number.NaN))
    const measured = cpu.filter((ratio) => ratio !== undefined)
    return {
      scenario,
      database,
      what,
      unit,
      base: middle(pairs.map(([base]) => valueOf(base))),
      twin: middle(pairs.map(([, twin]) => valueOf(twin))),
      speed: spreadOf(speeds),
      cpu: measured.length === rounds.length ? spreadOf(measured) : undefined,
    }
  })
}

/** All comparisons as a Markdown table, which is legible as plain text too. */
export function twinTable(
  [baseName, twinName]: readonly [string, string],
  findings: readonly TwinFinding[],
): string {
  const lines = findings.map(({ what, database, unit, base, twin, speed, cpu }) => [
    what,
    databaseNames[database],
    `${figure(base)} ${unit}`,
    `${figure(twin)} ${unit}`,
    ...spreadText(speed),
    ...spreadText(cpu),
  ])
  const range = 'Range of the rounds'
  const head = ['Work', 'Database', baseName, twinName, 'Speed', range, 'Requests a CPU second', range]
  const rule = ['---', '---', '---:', '---:', '---:', '---', '---:', '---']
  return `${[head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function rowOf(rows: readonly Row[], what: string): Row | undefined {
  return rows.find((row) => row.what === what)
}

function valueOf(row: Row | undefined): number {
  return row?.value ?? Number.NaN
}

/** Earlier commits do not say how many requests they measured. With the same number given it is that, with the same time it follows from the speed. */
function cpuRatio(base: Row | undefined, twin: Row | undefined, speed: number): number | undefined {
  if (base?.usage === undefined || twin?.usage === undefined || twin.load === undefined) return undefined
  const { requests, isTimed } = twin.load
  const ofBase = base.load?.requests ?? (isTimed ? requests / speed : requests)
  return base.usage.cpuSeconds / ofBase / (twin.usage.cpuSeconds / requests)
}

function spreadOf(ratios: readonly number[]): Spread {
  return { ratio: middle(ratios), lowest: Math.min(...ratios), highest: Math.max(...ratios) }
}

function spreadText(spread: Spread | undefined): readonly [string, string] {
  if (spread === undefined) return ['–', '–']
  const { ratio, lowest, highest } = spread
  return [`× ${ratio.toFixed(2)}`, `${lowest.toFixed(2)} to ${highest.toFixed(2)}`]
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) / 2
  return ((sorted[Math.floor(at)] ?? Number.NaN) + (sorted[Math.ceil(at)] ?? Number.NaN)) / 2
}

function figure(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2 })
}
