/** The last run of a maintenance job. */
interface MaintenanceReport {
  readonly name: string
  /** Unix seconds. */
  readonly endedAt: number
  readonly durationMs: number
  readonly failed: boolean
}

/** The last run of each maintenance job since the process started. */
export class MaintenanceLog {
  readonly #now: () => number
  readonly #reports = new Map<string, MaintenanceReport>()

  /** Unix seconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  note(name: string, { durationMs, failed }: Pick<MaintenanceReport, 'durationMs' | 'failed'>): void {
    this.#reports.set(name, { name, endedAt: this.#now(), durationMs, failed })
  }

  /** In the order of their first runs. */
  list(): MaintenanceReport[] {
    return [...this.#reports.values()]
  }
}
