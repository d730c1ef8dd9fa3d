import type { LoadResult } from './load/plan.ts'
import type { Usage } from './usage.ts'

/** What architecture asks of a figure. */
export type Target = { readonly atLeast: number } | { readonly atMost: number }

export type Unit = 'per s' | 'files/s' | 'MB/s' | 'ms' | 'MB'

/** One line of the table. */
export interface Row {
  readonly what: string
  readonly value: number
  readonly unit: Unit
  /** Of single requests, where the value is a rate. */
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** What the bare machine reaches at the part named, measured in the same run and in the same unit. */
  readonly limit?: { readonly value: number; readonly of: string }
  readonly target?: Target
  /** Of the server, over what was measured. */
  readonly usage?: Usage
  /** Something of the bare machine, which no database is under. */
  readonly bare?: true
}

export type DatabaseKind = 'sqlite' | 'postgres'

/** A row as it is reported. */
export interface Finding extends Row {
  readonly scenario: string
  readonly database: DatabaseKind
  /** Undefined where there is no target. */
  readonly met: boolean | undefined
}

/** Whether a value reaches its target; undefined if there is none. */
export function isMet({ value, target }: Pick<Row, 'value' | 'target'>): boolean | undefined {
  if (target === undefined) return undefined
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost
}

type About = Pick<Row, 'limit' | 'target' | 'bare'>
type Load = LoadResult & { readonly usage?: Usage }

/** The rate of a load, with the times of its requests beside it. */
export function rateRow(what: string, load: Load, about: About = {}): Row {
  const { perSecond, p50Ms, p99Ms } = load
  return { what, value: perSecond, unit: 'per s', p50Ms, p99Ms, ...usageOf(load), ...about }
}

/** The time half of the requests of a load stay under. */
export function p50Row(what: string, load: Load, about: About = {}): Row {
  const { p50Ms, p99Ms } = load
  return { what, value: p50Ms, unit: 'ms', p50Ms, p99Ms, ...usageOf(load), ...about }
}

/** The time all but one in a hundred of the requests of a load stay under. */
export function p99Row(what: string, { p99Ms }: LoadResult, atMost: number): Row {
  return { what: `${what}, p99`, value: p99Ms, unit: 'ms', target: { atMost } }
}

function usageOf({ usage }: Load): Pick<Row, 'usage'> {
  return usage === undefined ? {} : { usage }
}
