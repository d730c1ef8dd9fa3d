import type { BenchServer } from './bench-server.ts'
import type { Row, Unit } from './row.ts'
import type { Context } from './scenario.ts'
import type { Usage } from './usage.ts'
import type { Workspace } from './workspace.ts'

/** Smaller steps say nothing about the time that a larger one takes, because opening the data takes longer than adding to it. */
const TELLING_STEP = 1000
const QUICK_POINTS = 2
const MS_PER_MINUTE = 60_000

/** How costs grow with one size. */
interface Curve {
  /** Title of the plot. */
  readonly title: string
  /** What there is more of at each point, such as `entries`. */
  readonly of: string
  /** Ascending. */
  readonly sizes: readonly number[]
  /** Extends the data to a size, while no server runs. */
  grow(size: number, before: number): Promise<void>
  /** The costs at a size. The server was started for this point. */
  measure(server: BenchServer, size: number): Promise<readonly Cost[]>
}

/** One value at a point of a curve. */
export interface Cost {
  /** Name of the line in the plot. */
  readonly series: string
  readonly value: number
  readonly unit: Unit
  readonly p50Ms?: number
  readonly p99Ms?: number
  readonly usage?: Usage
}

/** All sizes, or, in a quick run, the largest two up to a limit. */
export function chosenSizes(context: Context, all: readonly number[], quickMost: number): readonly number[] {
  const few = all.filter((size) => size <= quickMost).slice(-QUICK_POINTS)
  return context.size(all.length, few.length) === few.length ? few : all
}

/** A median latency as a cost. */
export function latency(
  series: string,
  { p50Ms, p99Ms, usage }: { readonly p50Ms: number; readonly p99Ms: number; readonly usage: Usage },
): Cost {
  return { series, value: p50Ms, unit: 'ms', p50Ms, p99Ms, usage }
}

/**
 * The points of a curve, each with the memory of its server, up to the largest size that can be built in the time of a curve. A note in the results says
 * where it ended early.
 */
export async function measureCurve(context: Context, workspace: Workspace, curve: Curve): Promise<Row[]> {
  const { title, of } = curve
  const began = performance.now()
  const rows: Row[] = []
  let before = 0
  let msPerItem = 0
  for (const size of curve.sizes) {
    const expectedMs = performance.now() - began + msPerItem * (size - before)
    if (expectedMs > context.curveMs) {
      const minutes = Math.round(context.curveMs / MS_PER_MINUTE)
      context.note(
        `${title}: ends at ${amount(before, of)}, because ${amount(size, of)} take longer than ${minutes} min to build`,
      )
      break
    }
    const growing = performance.now()
    await curve.grow(size, before)
    if (size - before >= TELLING_STEP) msPerItem = (performance.now() - growing) / (size - before)
    before = size
    const server = await workspace.serve()
    rows.push(...pointRows(curve, size, await curve.measure(server, size)))
    await server.stop()
  }
  return rows
}

/** The rows of a point, and one for the highest memory peak among them. */
export function pointRows(
  { title, of }: Pick<Curve, 'title' | 'of'>,
  size: number,
  costs: readonly Cost[],
): Row[] {
  const row = ({ series, ...cost }: Cost): Row => ({
    what: `${title}, ${amount(size, of)}: ${series}`,
    ...cost,
    point: { curve: title, series, x: size, of },
  })
  const peaks = costs.flatMap(({ usage }) => (usage === undefined ? [] : [usage.peakBytes]))
  const memory: Cost = { series: 'memory peak', value: Math.max(...peaks) / 1e6, unit: 'MB' }
  return [...costs, ...(peaks.length === 0 ? [] : [memory])].map(row)
}

/** Times of work that is repeated one after another, without its warm-up. */
export async function repeat(
  server: BenchServer,
  { warmUp, measured }: { readonly warmUp: number; readonly measured: number },
  work: (n: number) => Promise<void>,
) {
  for (let n = 0; n < warmUp; n += 1) await work(n)
  const times: number[] = []
  const { usage } = await server.meter(async () => {
    for (let n = warmUp; n < warmUp + measured; n += 1) {
      const began = performance.now()
      await work(n)
      times.push(performance.now() - began)
    }
    return {}
  })
  times.sort((a, b) => a - b)
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99), usage }
}

const amount = (size: number, of: string) => `${size.toLocaleString('en-US')} ${of}`
