const FIRST_PAUSE_MS = 5_000
const MAX_PAUSE_MS = 300_000
/** A quarter of an hour with these pauses. */
const MAX_FAILURES = 10
/** Retry counters expire after this time without an attempt: another node has taken the work over, or it was canceled. */
const FORGOTTEN_MS = 3_600_000

/** When work is tried again that failed for a reason that passes: at the next opportunity, then after pauses that double. */
export class Retries {
  /** By the id of the work. */
  readonly #failed = new Map<string, { failures: number; dueAtMs: number }>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Whether it may fail once more without an end. */
  mayRepeat(id: string): boolean {
    return (this.#failed.get(id)?.failures ?? 0) < MAX_FAILURES - 1
  }

  /** It has failed once more. */
  note(id: string): void {
    const nowMs = this.#nowMs()
    for (const [old, { dueAtMs }] of this.#failed) {
      if (dueAtMs < nowMs - FORGOTTEN_MS) this.#failed.delete(old)
    }
    const failures = (this.#failed.get(id)?.failures ?? 0) + 1
    const pauseMs = failures === 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (failures - 2), MAX_PAUSE_MS)
    this.#failed.set(id, { failures, dueAtMs: nowMs + pauseMs })
  }

  isDue(id: string): boolean {
    return (this.#failed.get(id)?.dueAtMs ?? 0) <= this.#nowMs()
  }

  /** It has ended. */
  forget(id: string): void {
    this.#failed.delete(id)
  }
}
