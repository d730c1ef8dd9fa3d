import type { LoadResult } from './load/plan.ts'
import type { Usage } from './usage.ts'

/** The required value of a row. */
export type Target = { readonly atLeast: number } | { readonly atMost: number }

export type Unit = 'per s' | 'files/s' | 'MB/s' | 'ms' | 'MB' | 'KB' | 'requests' | 'times'

/** One row of the table. */
export interface Row {
  readonly what: string
  readonly value: number
  readonly unit: Unit
  /** Latency of single requests, if the value is a rate. */
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** Raw limit of the machine for the named part, measured in the same run and unit. */
  readonly limit?: { readonly value: number; readonly of: string }
  readonly target?: Target
  /** CPU time and memory of the server during the measurement. */
  readonly usage?: Usage
  /** The requests of that measurement, and whether a time was given for it, not their number. */
  readonly load?: Pick<LoadResult, 'requests' | 'isTimed'>
  /** The same work by other servers of the same run, in the same unit. */
  readonly others?: readonly { readonly value: number; readonly of: string }[]
  /** A point of a line of a curve that is plotted: `x` of what, such as 1,000 entries. */
  readonly point?: {
    readonly curve: string
    readonly series: string
    readonly x: number
    readonly of: string
  }
  /** A figure of the machine or of nginx, independent of the database. */
  readonly bare?: true
}

export type DatabaseKind = 'sqlite' | 'postgres'

/** A row with its context, as reported. */
export interface Finding extends Row {
  readonly scenario: string
  readonly database: DatabaseKind
  /** Undefined without a target. */
  readonly met: boolean | undefined
}

/** Whether a value reaches its target; undefined without one. */
export function isMet({ value, target }: Pick<Row, 'value' | 'target'>): boolean | undefined {
  if (target === undefined) return undefined
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost
}

/** Units of times, memory and other costs. */
const COSTS: ReadonlySet<Unit> = new Set(['ms', 'MB', 'KB', 'requests'])

/** Above 1 if it is faster or smaller. A value that is better when it is lower is compared the other way round. */
export function speedRatio({ value, unit }: Pick<Row, 'value' | 'unit'>, compared: number): number {
  return COSTS.has(unit) ? compared / value : value / compared
}

type About = Pick<Row, 'limit' | 'target' | 'bare'>
type Load = LoadResult & { readonly usage?: Usage }

/** The rate of a load, with its latencies. */
export function rateRow(what: string, load: Load, about: About = {}): Row {
  const { perSecond, p50Ms, p99Ms } = load
  return { what, value: perSecond, unit: 'per s', p50Ms, p99Ms, ...usageOf(load), ...about }
}

/** The median latency of a load. */
export function p50Row(what: string, load: Load, about: About = {}): Row {
  const { p50Ms, p99Ms } = load
  return { what, value: p50Ms, unit: 'ms', p50Ms, p99Ms, ...usageOf(load), ...about }
}

/** The 99th percentile of the latency of a load. */
export function p99Row(what: string, { p99Ms }: LoadResult, atMost: number): Row {
  return { what: `${what}, p99`, value: p99Ms, unit: 'ms', target: { atMost } }
}

function usageOf({ usage, requests, isTimed }: Load): Pick<Row, 'usage' | 'load'> {
  return usage === undefined ? {} : { usage, load: { requests, isTimed } }
}
