import type { Nginx } from './limits/nginx.ts'
import type { Amount } from './load/plan.ts'
import type { MixTarget } from './mix.ts'
import type { DatabaseKind, Row } from './row.ts'
import type { Workspace } from './workspace.ts'

/** Environment of a scenario. */
export interface Context {
  readonly database: DatabaseKind
  /**
   * A new data folder and database; the caller disposes of it. A named one is kept in the `--keep` folder and reused by later
   * runs.
   */
  workspace(name?: string): Promise<Workspace>
  /** An nginx with an empty folder; undefined, with one message, if it is not on the PATH. */
  nginx(): Promise<Nginx | undefined>
  /** Says once that rows are left out, and why. */
  omit(what: string, reason: string): void
  /** Adds a remark to the results. */
  note(text: string): void
  /** The full size, or the small one of a quick run. */
  size(full: number, quick: number): number
  /** Duration of a measurement, and of the warm-up before it. */
  readonly measured: Amount
  readonly warmUp: Amount
  /** Duration of the measurement of a raw limit. */
  readonly limitMs: number
  /** Time for building the data of a curve and measuring it. */
  readonly curveMs: number
  /** Duration of the customary mix. */
  readonly mixMs: number
}

/** One kind of work and its rows. */
export interface Scenario {
  readonly name: string
  run(context: Context): Promise<Row[]>
  /** The same at a server that runs already, with an API token. Missing if the scenario has to prepare data or to start the server. */
  runAt?(context: Context, target: MixTarget): Promise<Row[]>
}
