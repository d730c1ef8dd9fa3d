import type { Nginx } from './limits/nginx.ts'
import type { Amount } from './load/plan.ts'
import type { DatabaseKind, Row } from './row.ts'
import type { Workspace } from './workspace.ts'

/** What a scenario is given. */
export interface Context {
  readonly database: DatabaseKind
  /**
   * A fresh data folder and database of its own; dispose of it when done. One with a name is left where the driver was
   * told to keep things, and is the one an earlier run left there.
   */
  workspace(name?: string): Promise<Workspace>
  /** An nginx with an empty folder of its own; undefined, said once, where there is none on the PATH. */
  nginx(): Promise<Nginx | undefined>
  /** A number for real, or the small one of a quick run. */
  size(full: number, quick: number): number
  /** How long a rate is measured, and warmed up before. */
  readonly measured: Amount
  readonly warmUp: Amount
  /** How long a raw limit is measured. */
  readonly limitMs: number
}

/** One kind of work and its rows. */
export interface Scenario {
  readonly name: string
  run(context: Context): Promise<Row[]>
}
