import type { Registry } from 'prom-client'
import { registerGauges, type StateMetric } from '../../base/metrics.ts'
import type { Database } from '../database/index.ts'
import { findSeenTime, putSeenTime } from './clock-store.ts'

/**
 * The clock may be ahead of the last time that was seen by this much, in seconds: a weekend without power, or asleep. Data that expires is then deleted earlier by
 * at most that.
 */
export const MAX_JUMP_SECONDS = 3 * 86_400
const LOOK_AGAIN_MS = 600_000

/** The clock is ahead of the last time that was seen by more than can be explained. Both in Unix seconds. */
interface ClockJump {
  readonly seenAt: number
  readonly now: number
}

/** Thrown instead of a time that would delete data too early. */
export class ClockJumped extends Error {
  override readonly name = 'ClockJumped'

  constructor({ seenAt, now }: ClockJump) {
    super(
      `The clock says ${textOf(now)}, but it was ${textOf(seenAt)} when it was last seen, so nothing is deleted because of its age. Set the clock, or run carrel clock --confirm if it is right.`,
    )
  }
}

interface TrustedClockOptions {
  readonly db: Database
  /** Unix seconds. */
  readonly now: () => number
  /** Seconds that passed, whatever the clock says. */
  readonly monotonic: () => number
  /** Called when a jump is found, and again every ten minutes. */
  readonly onJump: (error: ClockJumped) => void
  readonly onError: (error: unknown) => void
}

/**
 * The time for deletions of what has expired. A clock that jumps ahead, as after an error of time synchronization, would delete history, trash and deleted
 * libraries for good. So the last time that was seen is stored, and a time far beyond it is refused until the clock is right again or an operator confirms it.
 */
export class TrustedClock implements AsyncDisposable {
  readonly #options: TrustedClockOptions
  /** The last trusted time, and when it was trusted on the monotonic clock. */
  #base = { seenAt: 0, at: 0 }
  #confirmations = 0
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(options: TrustedClockOptions) {
    this.#options = options
  }

  /** Reads the stored time. Until then no time is trusted. */
  async start(): Promise<void> {
    await this.look()
    this.#timer = setInterval(() => {
      this.#looking = this.look().catch(this.#options.onError)
    }, LOOK_AGAIN_MS).unref()
  }

  /** Unix seconds. Throws ClockJumped. */
  now(): number {
    const jump = this.jump
    if (jump !== undefined) throw new ClockJumped(jump)
    return this.#options.now()
  }

  /** Undefined while the clock is trusted. */
  get jump(): ClockJump | undefined {
    const { now, monotonic } = this.#options
    const { seenAt, at } = this.#base
    const [time, passed] = [now(), monotonic() - at]
    return time > seenAt + passed + MAX_JUMP_SECONDS
      ? { seenAt: Math.floor(seenAt + passed), now: time }
      : undefined
  }

  /** Compares the clock with the stored time, and stores it if it is trusted. */
  async look(): Promise<void> {
    const { db, now, monotonic, onJump } = this.#options
    const stored = await findSeenTime(db)
    const at = monotonic()
    const expected = this.#base.seenAt + at - this.#base.at
    // Before the first look nothing is known. A confirmation counts, also one of an earlier time.
    const isFirst = this.#base.seenAt === 0
    if (stored === undefined) this.#base = { seenAt: now(), at }
    else if (isFirst || stored.confirmations !== this.#confirmations || stored.seenAt > expected)
      this.#base = { seenAt: stored.seenAt, at }
    this.#confirmations = stored?.confirmations ?? 0
    const { jump } = this
    if (jump !== undefined) return onJump(new ClockJumped(jump))
    const time = now()
    this.#base = { seenAt: Math.max(this.#base.seenAt, time), at }
    if (stored === undefined || time > stored.seenAt) {
      await db.write((tx) => putSeenTime(tx, time), { durable: false })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }
}

function textOf(time: number): string {
  return new Date(time * 1000).toISOString()
}

const gauges: readonly StateMetric<ClockJump | undefined>[] = [
  {
    name: 'carrel_clock_jump_seconds',
    help: 'Seconds by which the clock is ahead of the last time that was seen, while deletions wait for a confirmation; 0 otherwise',
    of: (jump) => (jump === undefined ? 0 : jump.now - jump.seenAt),
  },
]

/** Registers the metric of a clock that jumped ahead. */
export function registerClockMetrics(registry: Registry, jump: () => ClockJump | undefined): void {
  registerGauges(registry, gauges, async () => jump())
}
