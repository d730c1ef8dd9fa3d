/** How a chore went the last time. */
export interface ChoreReport {
  readonly name: string
  /** Unix seconds. */
  readonly endedAt: number
  readonly durationMs: number
  readonly failed: boolean
}

/** Remembers how each chore went last, since the process began. */
export class ChoreLog {
  readonly #now: () => number
  readonly #reports = new Map<string, ChoreReport>()

  /** Unix seconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  note(name: string, { durationMs, failed }: Pick<ChoreReport, 'durationMs' | 'failed'>): void {
    this.#reports.set(name, { name, endedAt: this.#now(), durationMs, failed })
  }

  /** In the order they were first run. */
  list(): ChoreReport[] {
    return [...this.#reports.values()]
  }
}
