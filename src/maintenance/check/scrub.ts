import { setTimeout as wait } from 'node:timers/promises'
import { type BlockCheck, blockRows, damagedBlocks } from '../../libraries/content/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { findScrubProgress, finishScrub, moveScrub, type ScrubProgress, startScrub } from './scrub-store.ts'

const TICK_MS = 60_000
/** A page holds the event loop for a few milliseconds at most: its small blocks have up to 1 MB. */
const BLOCKS_PER_PAGE = 16
/** Behind schedule, after a long stop for example, it rests three times as long as it works. */
const REST_FACTOR = 3

/** Before the first id. */
const START = new Uint8Array(0)

interface ScrubOptions {
  readonly db: Database
  readonly blocks: BlockCheck
  /** Unix seconds. */
  readonly now: () => number
  /** The time in which every block is read once; 0 never reads any. */
  readonly periodSeconds: number
  /** Takes or keeps the lease. False if another node scrubs. */
  readonly hold: () => Promise<boolean>
  readonly onError: (error: unknown) => void
}

/**
 * Reads every stored block once in a period and verifies its hash. Block ids are uniformly distributed, so the position in the order of ids is
 * compared with the time that has passed: reads are spread evenly, without counting anything first. The position is stored, so a restart continues.
 * Blocks that are known to be damaged are read more often, because a failing cable or controller damages what was read and not what is stored.
 */
export class Scrub implements AsyncDisposable {
  readonly #options: ScrubOptions
  readonly #stopping = new AbortController()
  /** The last damaged block that was read again. */
  #damagedPosition: Uint8Array = START
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: ScrubOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#options.periodSeconds === 0) return
    const tick = () => {
      this.#running = this.#running.then(() => this.advance()).catch(this.#options.onError)
    }
    this.#timer = setInterval(tick, TICK_MS).unref()
  }

  /** Reads the blocks that are due. */
  async advance(): Promise<void> {
    const { db, now, periodSeconds, hold } = this.#options
    if (!(await hold())) return
    await this.#readDamaged()
    await startScrub(db, now())
    for (;;) {
      const progress = await findScrubProgress(db)
      if (progress === undefined || this.#stopping.signal.aborted) return
      const due = (now() - progress.startedAt) / periodSeconds
      if (due < 0 || fractionOf(progress.position) >= due) return
      const began = performance.now()
      if (!(await this.#readPage(progress))) return
      const restMs = (performance.now() - began) * REST_FACTOR
      await wait(restMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    clearInterval(this.#timer)
    await this.#running
  }

  /** Reads some blocks that are known to be damaged, others each time. Those that prove sound are recorded as damaged no more. */
  async #readDamaged(): Promise<void> {
    const { db, blocks } = this.#options
    const page = await damagedBlocks.list(db, this.#damagedPosition, BLOCKS_PER_PAGE)
    this.#damagedPosition = page.length < BLOCKS_PER_PAGE ? START : (page.at(-1)?.id ?? START)
    const held = page.flatMap(({ id, size }) => (size === null ? [] : [{ id, size }]))
    if (held.length > 0) await blocks.scrub(held)
  }

  /** False at the end of the pass. */
  async #readPage({ position, startedAt }: ScrubProgress): Promise<boolean> {
    const { db, blocks, now, periodSeconds } = this.#options
    const page = await blockRows.listStoredAfter(db, position, BLOCKS_PER_PAGE)
    const last = page.at(-1)
    if (last === undefined) {
      await damagedBlocks.deleteUnheld(db)
      const time = now()
      await finishScrub(db, position, { now: time, nextAt: Math.max(time, startedAt + periodSeconds) })
      return false
    }
    const { bytes, faults } = await blocks.scrub(page)
    await moveScrub(db, position, { to: last.id, blocks: page.length, bytes, found: faults })
    return true
  }
}

/** How far an id is in the order of all ids, from 0 to 1. */
function fractionOf(id: Uint8Array): number {
  let fraction = 0
  for (let index = 5; index >= 0; index--) fraction = (fraction + (id[index] ?? 0)) / 256
  return fraction
}
