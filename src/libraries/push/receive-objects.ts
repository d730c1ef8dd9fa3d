import { fail } from '../../base/errors.ts'
import { EMPTY_ID, type FsId, InvalidObject } from '../../base/objects/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { EditableLibrary, Library } from '../library/index.ts'
import { readSent, type SentObject } from './object-parser.ts'
import type { PushStores } from './push-stores.ts'
import { findPresent, insertReceived, type ReceivedObject } from './received-store.ts'
import { markSent, sentOrVisibleAmong, visibleAmong } from './sync-visibility.ts'
import { isGuestIn } from './uncommitted.ts'

/** Larger objects are parsed in a worker thread. This is some thousand entries, a few milliseconds. */
const SMALL_OBJECT = 256 * 1024

const BATCH_OBJECTS = 1000
const BATCH_BYTES = 2 ** 20

/** Receives dirs and files that clients send before their commit. Only this library sees them (I7). */
export class ObjectIntake {
  readonly #stores: PushStores
  readonly #library: EditableLibrary
  readonly #slicer = new TimeSlicer()
  #batch: ReceivedObject[] = []
  #bytes = 0

  constructor(stores: PushStores, library: EditableLibrary) {
    this.#stores = stores
    this.#library = library
  }

  /**
   * Throws object-invalid if the object does not match its id or is malformed. Objects added before it are
   * kept.
   */
  async add(sent: SentObject): Promise<void> {
    if (this.#slicer.isDue) await this.#slicer.rest()
    const object = await this.#read(sent)
    this.#batch.push(object)
    this.#bytes += object.data.length
    if (this.#batch.length >= BATCH_OBJECTS || this.#bytes >= BATCH_BYTES) await this.finish()
  }

  /**
   * Stores the buffered objects. Throws quota-exceeded. They become durable with the flush of the commit that
   * refers to them.
   */
  async finish(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#bytes = 0
    if (batch.length === 0) return
    const { db, now, uncommitted } = this.#stores
    const bytes = batch.reduce((sum, { data }) => sum + data.length, 0)
    using _taken = await uncommitted.take(this.#library, 'objects', bytes)
    const sent = { at: now(), isGuest: isGuestIn(this.#library) }
    await db.write((tx) => insertReceived(tx, this.#library.info.key, batch, sent), { durable: false })
    await markSent(
      this.#stores,
      this.#library.info,
      batch.map(({ id }) => id),
    )
  }

  async #read(sent: SentObject): Promise<ReceivedObject> {
    try {
      const small = sent.packed.length > SMALL_OBJECT ? undefined : readSent(sent, SMALL_OBJECT)
      return small ?? (await this.#stores.largeObjects.read(sent))
    } catch (error) {
      if (error instanceof InvalidObject) fail({ code: 'object-invalid', reason: error.message })
      throw error
    }
  }
}

/**
 * Those of `ids` that were neither received nor are held, without duplicates, in the given order. The empty
 * id always exists.
 */
export async function missingObjects(
  stores: PushStores,
  library: Library,
  ids: readonly FsId[],
): Promise<FsId[]> {
  const asked = [...new Set(ids)].filter((id) => id !== EMPTY_ID)
  const shown = await visibleAmong(stores, library.info, asked)
  const sent = await sentOrVisibleAmong(stores, library.info, asked)
  const present = await findPresent(stores.db, library.info.key, { held: [...shown], received: [...sent] })
  return asked.filter((id) => !present.has(id))
}
