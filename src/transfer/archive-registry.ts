import type { Library } from '../library/index.ts'
import { VISITORS } from '../scheduling/index.ts'
import { type ArchiveTask, type ArchiveWish, requesterOf } from './archive-task.ts'

/** Archives that wait or are packed: of one account, of one link, and in all. */
const MOST_UNFINISHED = { account: 20, link: 5, all: 500 }
/** Archives of one account or link, finished ones included. */
const MOST_KEPT = 200
/** An archive nobody fetches for that long gives way when space is needed. */
const UNFETCHED_SECONDS = 600

/** The archives there are, by ticket, oldest first. */
export class ArchiveRegistry {
  readonly byTicket = new Map<string, ArchiveTask>()

  all(): Set<ArchiveTask> {
    return new Set(this.byTicket.values())
  }

  /** What visitors of the same link have asked for and can still fetch. */
  findEqual(library: Library, wish: ArchiveWish): ArchiveTask | undefined {
    if (wish.link === undefined) return undefined
    const identity = identityOf(library, wish)
    for (const task of this.#tasksOf(requesterOf(library, wish))) {
      const isAlive = task.finished !== undefined || task.isUnfinished
      if (isAlive && identityOf(task.library, task.wish) === identity) return task
    }
    return undefined
  }

  /** Whether the requester, or all together, have as many on the way as they may. */
  isFull(requester: string): boolean {
    let [own, all] = [0, 0]
    for (const task of this.all()) {
      if (!task.isUnfinished) continue
      all += 1
      if (task.requester === requester) own += 1
    }
    const most = requester.startsWith(`${VISITORS}:`) ? MOST_UNFINISHED.link : MOST_UNFINISHED.account
    return own >= most || all >= MOST_UNFINISHED.all
  }

  /** The oldest archive of a requester that has as many as may be kept. */
  surplus(requester: string): ArchiveTask | undefined {
    const own = this.#tasksOf(requester)
    return own.length < MOST_KEPT ? undefined : own.find(({ isUnfinished }) => !isUnfinished)
  }

  /** Finished archives that give way when space is needed, the requester's own first. `now` is in Unix seconds. */
  evictable(requester: string, now: number): ArchiveTask[] {
    const candidates = [...this.all()].filter(
      ({ finished, isFetched }) =>
        finished !== undefined && (isFetched || finished.finishedAt < now - UNFETCHED_SECONDS),
    )
    const isOwn = (task: ArchiveTask) => task.requester === requester
    return [...candidates.filter(isOwn), ...candidates.filter((task) => !isOwn(task))]
  }

  #tasksOf(requester: string): ArchiveTask[] {
    return [...this.all()].filter((task) => task.requester === requester)
  }
}

/** Equal for archives that hold the same under the same name. */
function identityOf(library: Library, { roots, name }: ArchiveWish): string {
  const entries = roots.map((root) => [root.kind, root.id, root.name, root.mtime])
  return JSON.stringify([library.info.key, name, entries])
}
