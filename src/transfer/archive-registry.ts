import type { Library } from '../library/index.ts'
import { VISITORS } from '../scheduling/index.ts'
import { type ArchiveRequest, type ArchiveTask, requesterOf } from './archive-task.ts'

/** Limits of queued and running archives: per account, per link, and in total. */
const MAX_UNFINISHED = { account: 20, link: 5, all: 500 }
/** Limit of archives per account or link, including finished ones. */
const MAX_KEPT = 200
/** An archive idle for this long may be evicted when space is needed. */
const UNFETCHED_SECONDS = 600

/** All archives by ticket, oldest first. */
export class ArchiveRegistry {
  readonly byTicket = new Map<string, ArchiveTask>()

  all(): Set<ArchiveTask> {
    return new Set(this.byTicket.values())
  }

  /** The archive that other visitors of the same link requested, if it is still valid. */
  findEqual(library: Library, request: ArchiveRequest): ArchiveTask | undefined {
    if (request.link === undefined) return undefined
    const identity = identityOf(library, request)
    for (const task of this.#tasksOf(requesterOf(library, request))) {
      const isAlive = task.finished !== undefined || task.isUnfinished
      if (isAlive && identityOf(task.library, task.request) === identity) return task
    }
    return undefined
  }

  /** Whether the requester, or all requesters together, have reached the limit. */
  isFull(requester: string): boolean {
    let [own, all] = [0, 0]
    for (const task of this.all()) {
      if (!task.isUnfinished) continue
      all += 1
      if (task.requester === requester) own += 1
    }
    const most = requester.startsWith(`${VISITORS}:`) ? MAX_UNFINISHED.link : MAX_UNFINISHED.account
    return own >= most || all >= MAX_UNFINISHED.all
  }

  /** The oldest archive of a requester who has reached the limit. */
  surplus(requester: string): ArchiveTask | undefined {
    const own = this.#tasksOf(requester)
    return own.length < MAX_KEPT ? undefined : own.find(({ isUnfinished }) => !isUnfinished)
  }

  /** Finished archives that may be evicted, the requester's own first. `now` is in Unix seconds. */
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

/** Key of an archive: equal for the same content and name. */
function identityOf(library: Library, { roots, name }: ArchiveRequest): string {
  const entries = roots.map((root) => [root.kind, root.id, root.name, root.mtime])
  return JSON.stringify([library.info.key, name, entries])
}
