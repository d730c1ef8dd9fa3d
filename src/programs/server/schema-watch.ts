import type { Logger } from '../../base/logging.ts'
import { CoalescedTask } from '../../base/scheduling/index.ts'
import type { ClusterNode } from '../../platform/cluster/index.ts'
import {
  checkSteps,
  type Database,
  finishMigration,
  NewerSchemaError,
  type WaitingStep,
} from '../../platform/database/index.ts'

// Each attempt copies the whole database first, so a step that fails is not tried again with every heartbeat.
const MIN_RETRY_MS = 30_000
const MAX_RETRY_MS = 3_600_000

interface SchemaWatchOptions {
  readonly db: Database
  readonly node: ClusterNode
  readonly migration: Parameters<typeof finishMigration>[1]
  /** The step that had to wait at the start. */
  readonly waiting: WaitingStep | undefined
  readonly logger: Logger
  /** Called once when another node applied a step after which this one cannot work. It must stop. */
  readonly onOutdated: (error: Error) => void
}

/**
 * Looks at the schema after each heartbeat. Applies the contract step that waits for older nodes, once there are none. Stops this node if a newer one applied a step
 * after which it cannot work: it was taken for dead, because it had been paused.
 */
export class SchemaWatch implements AsyncDisposable {
  readonly #options: SchemaWatchOptions
  readonly #task = new CoalescedTask(() => this.#look())
  readonly #retry = new RetryDelay(MIN_RETRY_MS, MAX_RETRY_MS)
  #waiting: WaitingStep | undefined
  #isEnding = false

  constructor(options: SchemaWatchOptions) {
    this.#options = options
    this.#waiting = options.waiting
    if (options.waiting !== undefined) this.#report(options.waiting)
    options.node.onBeat(() => void this.#run())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true
    await this.#task.ended()
  }

  async #run(): Promise<void> {
    if (this.#isEnding) return
    try {
      await this.#task.run()
    } catch (error) {
      if (this.#isEnding) return
      if (error instanceof NewerSchemaError) {
        this.#isEnding = true
        this.#options.onOutdated(error)
        return
      }
      this.#options.logger.error({ err: error }, 'the schema could not be checked; it is tried again')
    }
  }

  async #look(): Promise<void> {
    const { db, node, migration } = this.#options
    await checkSteps(db, { migrations: migration.migrations })
    const before = this.#waiting
    if (before === undefined || !this.#retry.isDue(performance.now()) || !(await node.hold('schema'))) return
    try {
      this.#waiting = await finishMigration(db, migration)
      this.#retry.succeeded()
    } catch (error) {
      if (error instanceof NewerSchemaError) throw error
      const seconds = this.#retry.failed(performance.now()) / 1000
      const message = 'a step of the schema could not be applied; it is tried again'
      this.#options.logger.error({ err: error, seconds }, message)
      return
    }
    if (this.#waiting === undefined) {
      this.#options.logger.info(
        { schemaVersion: db.schemaVersion },
        'the waiting steps of the schema were applied',
      )
    } else if (this.#waiting.nodes.join() !== before.nodes.join()) this.#report(this.#waiting)
  }

  #report({ version, name, nodes }: WaitingStep): void {
    this.#options.logger.warn(
      { step: version, name, nodes },
      'a step of the schema waits until these nodes are upgraded or stopped',
    )
  }
}

/** When work that failed may be tried again: after a delay that doubles with each failure (exponential backoff). Times in milliseconds. */
export class RetryDelay {
  readonly #minMs: number
  readonly #maxMs: number
  #delayMs = 0
  #dueAtMs = 0

  constructor(minMs: number, maxMs: number) {
    this.#minMs = minMs
    this.#maxMs = maxMs
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueAtMs
  }

  /** Returns the delay. */
  failed(nowMs: number): number {
    this.#delayMs = Math.min(Math.max(this.#minMs, 2 * this.#delayMs), this.#maxMs)
    this.#dueAtMs = nowMs + this.#delayMs
    return this.#delayMs
  }

  succeeded(): void {
    this.#delayMs = 0
    this.#dueAtMs = 0
  }
}
