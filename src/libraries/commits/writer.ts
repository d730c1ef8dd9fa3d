import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTick } from 'node:timers/promises'
import { fail } from '../../base/errors.ts'
import { batchSettled, Overdue } from '../../base/scheduling/index.ts'
import { DatabaseError } from '../../platform/database/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { PendingDirs, WorkingTree } from '../tree/index.ts'
import { CommitStatistics } from './commit-statistics.ts'
import { Contention } from './contention.ts'
import type { Committed, Edit, QueuedEdit } from './edit.ts'
import {
  commitGroup,
  type EditSource,
  findCurrent,
  LARGEST_GROUP,
  type LibraryRef,
  type WriterServices,
} from './group-commit.ts'

/**
 * The only way a head moves. Each library has a queue of edits, which are committed in groups: one transaction and one flush
 * for all that wait. The next group is prepared while the last one becomes durable.
 */
export class Writers {
  readonly statistics = new CommitStatistics()
  readonly #services: WriterServices
  readonly #queues = new Map<number, QueuedEdit[]>()
  readonly #draining = new Set<Promise<unknown>>()
  /** A queue serves many requests, so it runs in the context of none. */
  readonly #outsideRequests = AsyncLocalStorage.snapshot()

  constructor(services: Omit<WriterServices, 'contention' | 'statistics'>) {
    this.#services = { ...services, contention: new Contention(), statistics: this.statistics }
  }

  /**
   * Resolves once the commit is durable (I4). Throws what the edit throws. An edit that is still queued at the deadline of its request is withdrawn; the outcome of one that is
   * being committed is not known then.
   */
  commit<T>(library: LibraryRef, edit: Edit<T>): Promise<Committed<T>> {
    const { unanswered } = this.statistics
    const { promise, resolve, reject } = Promise.withResolvers<Committed<T>>()
    const queued: QueuedEdit = {
      edit,
      operation: this.#services.operations.current,
      resolve: (committed) => {
        unanswered.delete(queued)
        resolve(committed as Committed<T>)
      },
      reject: (error) => {
        unanswered.delete(queued)
        reject(error)
      },
    }
    unanswered.set(queued, performance.now())
    const queue = this.#queues.get(library.key)
    if (queue === undefined) this.#start(library, [queued])
    else queue.push(queued)
    return this.#services.db.awaitInRequest(promise, () => this.#withdraw(library, queued))
  }

  /**
   * Applies an upload to the current head without storing anything, so that what its commit would refuse is refused before its blocks get names. Throws
   * what the edit throws, too-many-entries. The outcome if the edit would store no content, once what it found is durable (I4); undefined otherwise.
   */
  async rehearse<T>(ref: LibraryRef, edit: Edit<T>): Promise<Committed<T> | undefined> {
    const { db, objects, growth, now } = this.#services
    const library = await findCurrent(db, ref)
    const source = { objects, libraryKey: library.key, pending: new PendingDirs() }
    const tree = await WorkingTree.open(source, library.root, Math.max(now(), library.updatedAt))
    const { contents = [], result } = await edit.apply(tree, library)
    if (contents.length === 0) {
      await db.flushed()
      return { result, library, before: library, commit: undefined }
    }
    // Hashing the changed dirs tells how many entries are new. That is needed only close to the limit.
    if (growth.mayRefuse(await objects.getDir(library.key, library.root), contents.length)) {
      const edited = await tree.finish()
      const fault = edited && growth.refusalOf({ ...edited, sizeBefore: library.size })
      if (fault !== undefined) fail(fault)
    }
    return undefined
  }

  /** Resolves when no edit is queued or being committed. */
  async idle(): Promise<void> {
    while (this.#draining.size > 0) await Promise.all(this.#draining)
  }

  #start(library: LibraryRef, queue: QueuedEdit[]): void {
    this.#queues.set(library.key, queue)
    this.#track(this.#outsideRequests(() => this.#drain(library, queue)))
  }

  #track(work: Promise<unknown>): void {
    const draining = work.finally(() => this.#draining.delete(draining))
    this.#draining.add(draining)
  }

  #withdraw({ key }: LibraryRef, queued: QueuedEdit): boolean {
    const queue = this.#queues.get(key)
    const index = queue?.indexOf(queued) ?? -1
    if (index < 0) return false
    queue?.splice(index, 1)
    queued.reject(new DatabaseError('busy', 'The edit waited for too long, and was withdrawn.'))
    return true
  }

  async #drain(library: LibraryRef, queue: QueuedEdit[]): Promise<void> {
    let known: LibraryInfo | undefined
    while (queue.length > 0) {
      await batchSettled(queue, LARGEST_GROUP)
      const unanswered = new Set<QueuedEdit>()
      let hasTaken = false
      let isAbandoned = false
      const source: EditSource = {
        take(most) {
          if (isAbandoned) return []
          hasTaken = true
          const taken = queue.splice(0, most)
          for (const queued of taken) unanswered.add(queued)
          return taken
        },
        putBack(left) {
          if (isAbandoned) return
          queue.unshift(...left)
          for (const queued of left) unanswered.delete(queued)
        },
      }
      try {
        // A group has the deadline of a request, so that the next one does not wait for its connection. What it changes later is still right: the head moves by
        // compare-and-swap (I2).
        known = await this.#services.db.inRequest(() => commitGroup(this.#services, library, source, known))
      } catch (error) {
        // It fails before it takes any if the mutex cannot be asked for.
        if (!hasTaken) source.take(LARGEST_GROUP)
        isAbandoned = true
        if (error instanceof Overdue) this.#track(error.work.catch(() => {}))
        for (const queued of unanswered) queued.reject(error)
        known = undefined
      }
      // Edits that arrive in this tick find the queue, and `known` stays valid for them.
      if (queue.length === 0) await nextTick()
    }
    this.#queues.delete(library.key)
  }
}
