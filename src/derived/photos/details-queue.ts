import { BackgroundQueue, Busy, DutyCycle, takeTurns } from '../../base/scheduling/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Images } from '../../platform/imaging/index.ts'
import {
  type DuePhoto,
  leasePhoto,
  listDue,
  listDueLibraries,
  nextDue,
  postponePhoto,
  putDetails,
} from './due-photo-store.ts'
import type { PhotoDetails } from './photo-store.ts'

const PHOTOS_PER_ROUND = 16
/** Duty cycle. The rest of the time the image workers are free for thumbnails, which a user is waiting for. */
const SHARE = 0.5
// Duration of a lease. After it, the photo of a dead process is read again.
const LEASE_SECONDS = 300
const MAX_ATTEMPTS = 3
const RETRY_SECONDS = 30
const MAX_BYTES = 30 * 2 ** 20

/** An image that cannot be decoded: its modification time is all that is known. */
const NOTHING: PhotoDetails = {
  originalAt: undefined,
  utcOffset: undefined,
  width: undefined,
  height: undefined,
  thumbhash: undefined,
}

interface DetailsQueueOptions {
  readonly core: LibraryCore
  readonly db: Database
  readonly images: Images
  readonly onError: (error: unknown) => void
}

/** Reads date, size and placeholder of photos in the background, one at a time, round-robin over libraries. */
export class DetailsQueue {
  readonly #options: DetailsQueueOptions
  readonly #queue: BackgroundQueue
  readonly #dutyCycle: DutyCycle
  /** The last library of the previous round, if there were more. */
  #after = 0

  constructor(options: DetailsQueueOptions) {
    this.#options = options
    this.#queue = new BackgroundQueue({
      processBatch: () => this.#round(),
      secondsUntilDue: async () => {
        const due = await nextDue(options.db)
        return due === undefined ? undefined : due - options.core.now()
      },
      maxPauseSeconds: LEASE_SECONDS,
      onError: options.onError,
    })
    this.#dutyCycle = new DutyCycle({ share: SHARE }, this.#queue.signal)
  }

  /** Called when photos may have been queued. */
  wake(): void {
    this.#queue.wake()
  }

  /** Resolves once nothing is due. */
  settled(): Promise<void> {
    return this.#queue.settled()
  }

  stop(): Promise<void> {
    return this.#queue.stop()
  }

  /** Leases and reads a batch of photos. Returns their number. */
  async #round(): Promise<number> {
    const { db, core } = this.#options
    const now = core.now()
    const selected = await this.#select(now)
    const until = now + LEASE_SECONDS
    const taken: DuePhoto[] = []
    if (selected.length > 0)
      await db.write(
        async (tx) => {
          taken.length = 0
          // Sorted, so that transactions lock rows in one order (no deadlock).
          for (const photo of selected.toSorted((a, b) => a.key - b.key)) {
            if (await leasePhoto(tx, photo, until)) taken.push(photo)
          }
        },
        { durable: false },
      )
    const owners = await libraryRows.findOwnerKeys(db, [
      ...new Set(taken.map(({ libraryKey }) => libraryKey)),
    ])
    for (const photo of taken) {
      await this.#dutyCycle.restIfDue().catch(() => {})
      await this.#readOne(photo, until, String(owners.get(photo.libraryKey)))
    }
    return taken.length
  }

  async #select(now: number): Promise<DuePhoto[]> {
    const { db } = this.#options
    const after = this.#after
    const libraries = await listDueLibraries(db, now, after, PHOTOS_PER_ROUND)
    this.#after = libraries.length < PHOTOS_PER_ROUND ? 0 : (libraries.at(-1) ?? 0)
    if (libraries.length === 0) return after === 0 ? [] : this.#select(now)
    const share = Math.ceil(PHOTOS_PER_ROUND / libraries.length)
    const lists: DuePhoto[][] = []
    for (const key of libraries) lists.push(await listDue(db, now, key, share))
    return takeTurns(lists, PHOTOS_PER_ROUND)
  }

  async #readOne(photo: DuePhoto, until: number, owner: string): Promise<void> {
    const { db, core } = this.#options
    const { signal } = this.#queue
    const outcome = signal.aborted ? 'postpone' : await this.#read(photo, owner)
    await db.write(
      async (tx) => {
        if (typeof outcome === 'object') await putDetails(tx, photo, until, outcome)
        else if (outcome === 'postpone')
          await postponePhoto(tx, photo, until, core.now() + (signal.aborted ? 0 : 5))
        else if (photo.attempts + 1 < MAX_ATTEMPTS)
          await postponePhoto(tx, photo, until, core.now() + RETRY_SECONDS * (photo.attempts + 1))
        else await putDetails(tx, photo, until, NOTHING)
      },
      { durable: false },
    )
  }

  /** The description of a photo. `postpone`: the workers are busy, or the server is stopping. `retry`: it failed, and may succeed later. */
  async #read({ libraryKey, fileId }: DuePhoto, owner: string): Promise<PhotoDetails | 'postpone' | 'retry'> {
    const { core, images } = this.#options
    const read = async function* () {
      const stored = await storesOf(core).content.open(libraryKey, fileId)
      // A chunk is valid only until the next one is requested.
      for await (const bytes of stored.read({ start: 0, end: stored.size })) yield Buffer.from(bytes)
    }
    try {
      const found = await images.describe(owner, { owner, read, maxBytes: MAX_BYTES }, this.#queue.signal)
      if ('failure' in found) return found.failure === 'undecodable' ? NOTHING : 'retry'
      return found
    } catch (error) {
      return error instanceof Busy || this.#queue.signal.aborted ? 'postpone' : 'retry'
    }
  }
}
