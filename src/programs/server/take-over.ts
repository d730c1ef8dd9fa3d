import type { Logger } from '../../base/logging.ts'
import { CoalescedTask } from '../../base/scheduling/index.ts'
import type { ClusterNode } from '../../platform/cluster/index.ts'
import type { Archives } from '../../surfaces/transfer/index.ts'
import type { Services } from './services.ts'

/**
 * Takes over what dead nodes left: after each heartbeat tasks that no live node works on, and after the death of a node the commits that it did not
 * process for search, photos, the feed and webhooks. Nothing else has to know which node did what.
 */
export class TakeOver implements AsyncDisposable {
  readonly #services: Pick<Services, 'activity' | 'copyMoveTasks' | 'photos' | 'search'> & {
    readonly archives: Archives
  }
  readonly #logger: Logger
  readonly #commits = new CoalescedTask(() => this.#processCommits())
  readonly #tasks = new CoalescedTask(() => this.#services.copyMoveTasks.takeFree())
  readonly #archives = new CoalescedTask(() => this.#services.archives.maintain())
  #isEnding = false
  #isBehind = false

  constructor(services: Services, node: ClusterNode, logger: Logger) {
    this.#services = services
    this.#logger = logger
    node.onBeat((deadNodes) => void this.#run(deadNodes))
  }

  /** Processing commits failed: those of all libraries are looked for after the next heartbeat. */
  readonly noteBehind = (): void => {
    this.#isBehind = true
  }

  /** Resolves when nothing is being taken over. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true
    await Promise.all([this.#tasks.ended(), this.#archives.ended(), this.#commits.ended()])
  }

  async #run(deadNodes: number): Promise<void> {
    if (this.#isEnding) return
    const work = [this.#tasks.run(), this.#archives.run()]
    if (deadNodes > 0) {
      this.#logger.info({ nodes: deadNodes }, 'taking over the work of nodes that stopped')
      this.#isBehind = true
    }
    if (this.#isBehind) work.push(this.#commits.run())
    try {
      await Promise.all(work)
    } catch (error) {
      if (this.#isEnding) return
      this.#logger.error({ err: error }, 'taking over the work of other nodes failed; it is tried again')
    }
  }

  async #processCommits(): Promise<void> {
    this.#isBehind = false
    try {
      await this.#catchUp()
    } catch (error) {
      this.#isBehind = true
      throw error
    }
  }

  async #catchUp(): Promise<void> {
    const { activity, search, photos } = this.#services
    await Promise.all([activity.takeOver(), search.reindexing.look(), photos.look()])
    search.texts.wake()
  }
}
