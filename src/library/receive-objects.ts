import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { inflate, inflateSync } from 'node:zlib'
import { Turns } from '../database/turns.ts'
import { fail } from '../errors.ts'
import { Dir } from '../objects/dir.ts'
import { encodeFile, parseFile } from '../objects/file.ts'
import { EMPTY_ID, type FsId, sha1Hex } from '../objects/ids.ts'
import { InvalidObject } from '../objects/invalid.ts'
import { parseJson } from '../objects/json-fields.ts'
import { packDir, packFile } from '../objects/packed.ts'
import type { LibraryCore } from './core.ts'
import type { EditableLibrary, Library } from './library.ts'
import { AS_RECEIVED, DIR, FILE, PACKED } from './object-store.ts'
import { Pace } from './pace.ts'
import { findPresent, insertReceived, type ReceivedObject } from './received-store.ts'

const inflateAside = promisify(inflate)

/** Most bytes of an object's JSON: a folder of some 400,000 entries. */
const LARGEST_OBJECT = 64 * 2 ** 20
/** Up to this an object is unpacked at once; beyond, aside and one at a time, because parsing takes several times as much. */
const SMALL_OBJECT = 256 * 1024
const HASHED_A_TURN = 2 ** 20

const BATCH_OBJECTS = 1000
const BATCH_BYTES = 2 ** 20

/** An object as a client sends it. */
export interface SentObject {
  readonly id: FsId
  /** Its JSON as a zlib stream. */
  readonly packed: Buffer
}

/** Takes dirs and files that come in ahead of their commit. Only this library sees them (I7). */
export class ObjectIntake {
  readonly #core: LibraryCore
  readonly #library: EditableLibrary
  readonly #pace = new Pace()
  #batch: ReceivedObject[] = []
  #bytes = 0

  constructor(core: LibraryCore, library: EditableLibrary) {
    this.#core = core
    this.#library = library
  }

  /** Throws object-invalid if the object is not in itself what it claims to be; those before it are kept. */
  async add(sent: SentObject): Promise<void> {
    if (this.#pace.isDue) await this.#pace.rest()
    const object = await this.#read(sent)
    this.#batch.push(object)
    this.#bytes += object.data.length
    if (this.#batch.length >= BATCH_OBJECTS || this.#bytes >= BATCH_BYTES) await this.finish()
  }

  /** Stores what is still in hand. Not durable by itself: the commit that names it comes later, and so does its sync. */
  async finish(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#bytes = 0
    if (batch.length === 0) return
    const { db, now } = this.#core
    await db.write((tx) => insertReceived(tx, this.#library.info.key, batch, now()), { durable: false })
  }

  async #read({ id, packed }: SentObject): Promise<ReceivedObject> {
    try {
      const json = unpackSmall(packed)
      if (json !== undefined) {
        if (sha1Hex(json) !== id) throw new InvalidObject('does not hash to its id')
        return readObject(id, json, packed)
      }
      const end = await largeObjects.take()
      try {
        return await readLarge(id, packed)
      } finally {
        end()
      }
    } catch (error) {
      if (error instanceof InvalidObject) fail({ code: 'object-invalid', reason: error.message })
      throw error
    }
  }
}

/** Those of `ids` that neither came in nor are held, each once, in the order asked. The empty id is always there. */
export async function missingObjects(
  { db }: LibraryCore,
  library: Library,
  ids: readonly FsId[],
): Promise<FsId[]> {
  const asked = [...new Set(ids)].filter((id) => id !== EMPTY_ID)
  const present = await findPresent(db, library.info.key, asked)
  return asked.filter((id) => !present.has(id))
}

const largeObjects = new Turns()

/** Undefined for an object too large to be unpacked at once. */
function unpackSmall(packed: Buffer): Buffer | undefined {
  if (packed.length > SMALL_OBJECT) return undefined
  try {
    return inflateSync(packed, { maxOutputLength: SMALL_OBJECT })
  } catch (error) {
    if (isTooLarge(error)) return undefined
    throw new InvalidObject('is not zlib', { cause: error })
  }
}

async function readLarge(id: FsId, packed: Buffer): Promise<ReceivedObject> {
  const json = await inflateAside(packed, { maxOutputLength: LARGEST_OBJECT }).catch((error: unknown) => {
    throw new InvalidObject(isTooLarge(error) ? 'is too large' : 'is not zlib', { cause: error })
  })
  const hash = createHash('sha1')
  const pace = new Pace()
  for (let at = 0; at < json.length; at += HASHED_A_TURN) {
    hash.update(json.subarray(at, at + HASHED_A_TURN))
    if (pace.isDue) await pace.rest()
  }
  if (hash.digest('hex') !== id) throw new InvalidObject('does not hash to its id')
  return readObject(id, json, packed)
}

function readObject(id: FsId, json: Buffer, packed: Buffer): ReceivedObject {
  if (kindOf(json) === DIR) {
    const dir = Dir.parse(json)
    if (dir.size === 0) throw new InvalidObject('is an empty dir, which has no object')
    return { id, kind: DIR, encoding: PACKED, size: 0, data: packDir(dir) }
  }
  const file = parseFile(json)
  if (file.blockIds.length === 0 || file.size === 0) {
    throw new InvalidObject('is an empty file, which has no object')
  }
  const isCanonical = encodeFile(file).equals(json)
  const data = isCanonical ? packFile(file) : Buffer.copyBytesFrom(packed)
  return { id, kind: FILE, encoding: isCanonical ? PACKED : AS_RECEIVED, size: file.size, data }
}

/** By how clients begin them; what begins otherwise is parsed to see. */
function kindOf(json: Buffer): number {
  const start = json.toString('latin1', 0, 12)
  if (start.startsWith('{"dirents"')) return DIR
  if (start.startsWith('{"block_ids')) return FILE
  return parseJson(json).type === DIR ? DIR : FILE
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
}
