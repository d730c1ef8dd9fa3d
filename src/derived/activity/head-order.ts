import { TwoGenerationCache } from '../../base/scheduling/index.ts'
import type { CommitLiveEvent, LiveEvent } from './hub.ts'

// Libraries whose last event is cached.
const MAX_LIBRARIES = 8192

/**
 * Makes the heads announced to clients monotonic. Nodes log their commits a moment after they made them, so the log may have the
 * commits of two nodes in the wrong order.
 */
export class HeadOrder {
  readonly #newest = new TwoGenerationCache<number, CommitLiveEvent>(MAX_LIBRARIES, () => 1)

  /** The number of the newest head that was passed on. */
  seqOf(libraryKey: number): number | undefined {
    return this.#newest.get(libraryKey)?.seq
  }

  /** The event to be passed on. A head that is older than one before it is replaced by that one, as a change since an earlier root. */
  next(event: LiveEvent): LiveEvent {
    if (event.kind !== 'commit' || event.seq === undefined) return event
    const newest = this.#newest.get(event.libraryKey)
    if (newest?.seq !== undefined && newest.seq > event.seq) {
      const { rootBefore: _ignored, ...head } = newest
      return event.rootBefore === undefined ? head : { ...head, rootBefore: event.rootBefore }
    }
    this.#newest.delete(event.libraryKey)
    this.#newest.set(event.libraryKey, event)
    return event
  }
}
