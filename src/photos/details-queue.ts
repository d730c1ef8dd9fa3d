import { findOwnerKeys } from '../commits/index.ts'
import type { Database } from '../database/index.ts'
import type { Images } from '../imaging/index.ts'
import type { LibraryCore } from '../library/index.ts'
import { Busy, DutyCycle, takeTurns } from '../scheduling/index.ts'
import {
  type DuePhoto,
  leasePhoto,
  listDue,
  listDueLibraries,
  nextDue,
  type PhotoDetails,
  postponePhoto,
  putDetails,
} from './photo-store.ts'

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
  readonly #stopping = new AbortController()
  readonly #dutyCycle: DutyCycle
  #running: Promise<void> | undefined
  #wokenAgain = false
  /** The last library of the previous round, if there were more. */
  #after = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: DetailsQueueOptions) {
    this.#options = options
    this.#dutyCycle = new DutyCycle({ share: SHARE }, this.#stopping.signal)
  }

  /** Called when photos may have been queued. */
  wake(): void {
    if (this.#stopping.signal.aborted) return
    this.#wokenAgain = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#wokenAgain) this.wake()
    })
  }

  /** Resolves once nothing is due. */
  async settled(): Promise<void> {
    this.wake()
    while (this.#running !== undefined) await this.#running
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the server is stopping'))
    this.#wokenAgain = false
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    try {
      do {
        this.#wokenAgain = false
        while (!signal.aborted && (await this.#round()) > 0);
      } while (this.#wokenAgain && !signal.aborted)
    } catch (error) {
      this.#wokenAgain = false
      if (!signal.aborted) this.#options.onError(error)
    }
    await this.#rest()
  }

  /** Schedules a run for when the next photo is due. */
  async #rest(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#stopping.signal.aborted) return
    const due = await nextDue(this.#options.db).catch(() => undefined)
    if (due === undefined || this.#stopping.signal.aborted) return
    const seconds = Math.min(Math.max(due - this.#options.core.now(), 1), LEASE_SECONDS)
    this.#timer = setTimeout(() => this.wake(), seconds * 1000).unref()
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
    const owners = await findOwnerKeys(db, [...new Set(taken.map(({ libraryKey }) => libraryKey))])
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
    const { signal } = this.#stopping
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

  /** What the bytes say. `postpone`: the workers are busy, or the server is stopping. `retry`: it failed, perhaps not for good. */
  async #read({ libraryKey, fileId }: DuePhoto, owner: string): Promise<PhotoDetails | 'postpone' | 'retry'> {
    const { core, images } = this.#options
    const read = async function* () {
      const stored = await core.content.open(libraryKey, fileId)
      // A chunk is valid only until the next one is requested.
      for await (const bytes of stored.read({ start: 0, end: stored.size })) yield Buffer.from(bytes)
    }
    try {
      const found = await images.describe(owner, { read, maxBytes: MAX_BYTES }, this.#stopping.signal)
      if ('failure' in found) return found.failure === 'undecodable' ? NOTHING : 'retry'
      return found
    } catch (error) {
      return error instanceof Busy || this.#stopping.signal.aborted ? 'postpone' : 'retry'
    }
  }
}
