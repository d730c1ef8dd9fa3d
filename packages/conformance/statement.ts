import type { Stage } from './stage.ts'

/** A statement of the documented API that holds, and its proof. */
export interface Case {
  /** The section it is from and a keyword, like `4.1/rename`. */
  readonly id: string
  /** In our own words, without a full stop. */
  readonly statement: string
  /** Where we send more than documented or differ from the reference, and why. */
  readonly note?: string
  readonly run: (stage: Stage) => Promise<void>
}

/** A statement that does not hold yet, because it needs another feature. It is listed, not tested. */
interface Missing {
  readonly id: string
  readonly statement: string
  /** The needed feature. */
  readonly needs: string
}

export type Statement = Case | Missing

/** A value is not of the documented kind. */
export class Difference extends Error {
  override name = 'Difference'
  readonly expected: string
  readonly got: string
  constructor(expected: string, got: string) {
    super(`expected ${expected}, got ${got}`)
    this.expected = expected
    this.got = got
  }
}

export function isMissing(statement: Statement): statement is Missing {
  return 'needs' in statement
}

export function sectionOf({ id }: Statement): string {
  return id.slice(0, id.indexOf('/'))
}
