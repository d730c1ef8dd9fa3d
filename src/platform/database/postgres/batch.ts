import type { Row, Value } from '../database.ts'
import type { Statement } from './statements.ts'

/** A parameter; a column of many rows is bound as one. */
type Parameter = Value | ColumnArray

/** The values of one column of many rows, as an array in the binary format of the server. */
export class ColumnArray {
  readonly bytes: Buffer
  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

/** A statement with its parameters. */
export interface Step {
  readonly statement: Statement
  readonly values: readonly Parameter[]
}

/** The result of a step. */
export interface Outcome {
  readonly rows: Row[]
  /** Rows found or changed. */
  readonly count: number
  /** The command tag, such as `COMMIT`. */
  readonly command: string
}

/** The results of a batch up to the first step that failed, and its error. */
export interface BatchOutcome {
  readonly outcomes: readonly Outcome[]
  readonly error: unknown
}
