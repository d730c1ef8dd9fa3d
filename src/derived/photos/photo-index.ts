import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Dirent, DirId } from '../../base/objects/index.ts'
import { baseName, joinPath, type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { type DerivedStep, type ModuleConsumer, refuseDeleted } from '../../libraries/consumers/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { type Change, entriesOnce, ObjectMissing, TooManyChanges } from '../../libraries/tree/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { findPhotoFaults } from './photo-faults.ts'
import { isReadable, photoKindOf } from './photo-kinds.ts'
import {
  claimPosition,
  deletePhotos,
  deletePhotosAt,
  deletePhotosBefore,
  findDetails,
  findPosition,
  movePosition,
  type PhotoEntry,
  type PhotoPosition,
  putPhotos,
  putPosition,
  resetPosition,
} from './photo-store.ts'

const CONSUMER = 'photos'
/** Photos that one transaction writes. */
const ROWS_PER_WRITE = 500
/** Larger differences are written in several transactions, by comparing the whole tree. */
const MAX_IN_ONE_WRITE = 2000
/** With more differences, most of which may not be photos, the tree is walked: a list of a million takes hundreds of megabytes. */
const MAX_CHANGES = 100_000
// A claim not renewed for this long belongs to a dead process.
const CLAIM_SECONDS = 60
const LOOK_AGAIN_MS = 200

/** The position of a library, with its row unless it has none. */
interface IndexPosition {
  readonly seq: number
  readonly stood: PhotoPosition | undefined
}

interface PhotoIndexOptions {
  readonly core: LibraryCore
  readonly db: Database
  /** Called when photos are waiting to be read. */
  readonly onPending: () => void
}

/**
 * Maintains the list of photos in the current tree of each library (I3). Its position is the tree that the rows describe, so it needs no
 * commits: garbage collection never waits for it, and a tree that is gone is replaced by a comparison with the whole head.
 */
export class PhotoIndex {
  readonly #options: PhotoIndexOptions
  readonly #consumer: ModuleConsumer<IndexPosition>
  readonly #stopping = new AbortController()

  constructor(options: PhotoIndexOptions) {
    this.#options = options
    this.#consumer = options.core.commitConsumer.add({
      db: options.db,
      name: CONSUMER,
      stopsAtDeletion: true,
      startsLater: true,
      async position(libraryKey) {
        const stood = await findPosition(options.db, libraryKey)
        return { seq: stood?.seq ?? 0, stood }
      },
      step: (library, { stood }) => this.#step(library, stood),
    })
  }

  /** Begins to index new commits in the background. */
  start(): void {
    this.#consumer.start()
  }

  /** Resolves once the photos are those of the library's head. */
  catchUp(library: LibraryInfo): Promise<void> {
    return this.#consumer.catchUp(library)
  }

  /** Deletes the rows of a library and indexes its photos again. */
  async rebuild(library: LibraryInfo): Promise<void> {
    const { db } = this.#options
    await db.write((tx) => resetPosition(tx, library.key), { durable: false })
    const some = (tx: Transaction) => deletePhotos(tx, library.key, ROWS_PER_WRITE)
    while ((await db.write(some, { durable: false })) > 0);
    this.#consumer.invalidate(library.key)
    await this.#consumer.catchUp(library)
  }

  /** Rows that are not as the head says. */
  async *faultsOf(library: LibraryInfo): AsyncGenerator<{ path: LibraryPath; reason: string }, void> {
    const { db, core } = this.#options
    const photos = library.encryption === undefined ? this.#walk(library) : emptyTree()
    yield* findPhotoFaults({ db, objects: storesOf(core).objects }, library, photos)
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the server is stopping'))
    await this.#consumer.stop()
  }

  /** Moves the rows of a library to the tree of its head. Undefined if another process was first. */
  async #step(
    library: LibraryInfo,
    stood: PhotoPosition | undefined,
  ): Promise<DerivedStep<IndexPosition> | undefined> {
    const { core } = this.#options
    if (stood !== undefined && stood.claim !== 0 && stood.claimedUntil > core.now()) {
      await delay(LOOK_AGAIN_MS, undefined, { signal: this.#stopping.signal })
      return undefined
    }
    // Names and images in encrypted libraries are only known to those with the password.
    if (library.encryption !== undefined) return this.#writeAll(library, stood, emptyTree())
    const changes =
      stood === undefined || stood.seq === 0 || stood.claim !== 0
        ? undefined
        : await this.#changes(library, stood)
    if (stood === undefined || changes === undefined)
      return this.#writeAll(library, stood, this.#walk(library))
    return this.#writeChanges(library, stood, changes)
  }

  /** The photos that were added, and the places where some may be gone. Undefined if that is too much for one transaction. */
  async #changes(
    library: LibraryInfo,
    stood: PhotoPosition,
  ): Promise<{ added: PhotoEntry[]; gone: LibraryPath[] } | undefined> {
    const { objects, changes: stored } = storesOf(this.#options.core)
    try {
      const changes = await stored.between(library.key, stood.root, library.root, {
        most: MAX_CHANGES,
      })
      const added: PhotoEntry[] = []
      const gone: LibraryPath[] = []
      let removed = 0
      for (const change of changes) {
        const arrives = arrivalOf(change)
        if (arrives !== undefined) {
          for await (const photo of this.#photosAt(library.key, arrives, change.entry)) {
            if (added.push(photo) > MAX_IN_ONE_WRITE) return undefined
          }
        }
        if (change.op === 'added') continue
        gone.push(change.path)
        const { entry } = change
        removed += entry.kind === 'dir' ? (await objects.getDir(library.key, entry.id)).fileCount : 1
        if (removed > MAX_IN_ONE_WRITE) return undefined
      }
      return { added, gone }
    } catch (error) {
      // The tree of the position may have been collected as garbage.
      if (error instanceof TooManyChanges || error instanceof ObjectMissing) return undefined
      throw error
    }
  }

  async #writeChanges(
    library: LibraryInfo,
    stood: PhotoPosition,
    { added, gone }: { readonly added: readonly PhotoEntry[]; readonly gone: readonly LibraryPath[] },
  ): Promise<DerivedStep<IndexPosition>> {
    const { core, onPending } = this.#options
    const { key: libraryKey, headSeq: seq, root } = library
    const photos = await this.#withDetails(libraryKey, added)
    const rows = {
      move: (tx: Transaction) =>
        movePosition(tx, { libraryKey, from: stood.seq, heldClaim: 0, to: seq, root }),
      async write(tx: Transaction) {
        await putPhotos(tx, libraryKey, photos, { seq, now: core.now() })
        for (const path of gone) {
          await deletePhotosAt(tx, libraryKey, { parent: parentOf(path), name: baseName(path), path }, seq)
        }
      },
      onWritten() {
        if (photos.some(isUnread)) onPending()
      },
    }
    return { reached: positionAt(library), rows }
  }

  /** Writes all photos of a tree in several transactions, then deletes the rows that are not among them. */
  async #writeAll(
    library: LibraryInfo,
    stood: PhotoPosition | undefined,
    photos: AsyncIterable<PhotoEntry>,
  ): Promise<DerivedStep<IndexPosition> | undefined> {
    const { db, core } = this.#options
    const { key: libraryKey, headSeq: seq, root } = library
    const from = stood?.seq ?? 0
    const claim = randomInt(1, 2 ** 47)
    let heldClaim = stood?.claim ?? 0
    const held = async (tx: Transaction) => {
      const until = core.now() + CLAIM_SECONDS
      return claimPosition(tx, { libraryKey, from, heldClaim, claim, until })
    }
    const claimed = await db.write(
      async (tx) => {
        await putPosition(tx, libraryKey, root)
        return held(tx)
      },
      { durable: false },
    )
    if (!claimed) return undefined
    heldClaim = claim
    try {
      let isPending = false
      for await (const some of inBatches(photos, ROWS_PER_WRITE)) {
        this.#stopping.signal.throwIfAborted()
        await refuseDeleted(db, library)
        const found = await this.#withDetails(libraryKey, some)
        isPending ||= found.some(isUnread)
        const write = async (tx: Transaction) => {
          if (!(await held(tx))) return false
          await putPhotos(tx, libraryKey, found, { seq, now: core.now() })
          return true
        }
        // The end of the step relies on it.
        if (!(await db.write(write, { durable: 'replicated' }))) return undefined
      }
      const sweep = async (tx: Transaction) =>
        (await held(tx)) ? deletePhotosBefore(tx, libraryKey, seq, ROWS_PER_WRITE) : 0
      while ((await db.write(sweep, { durable: 'replicated' })) > 0);
      const step = { libraryKey, from, heldClaim: claim, to: seq, root }
      const moved = await db.write((tx) => movePosition(tx, step), { durable: false })
      if (isPending) this.#options.onPending()
      return moved ? { reached: positionAt(library) } : undefined
    } catch (error) {
      // Releases the claim, so that the next step does not wait for its expiry. That step compares the whole tree.
      await db.write((tx) => claimPosition(tx, { libraryKey, from, heldClaim, claim, until: 0 }), {
        durable: false,
      })
      throw error
    }
  }

  async #withDetails(libraryKey: number, entries: readonly PhotoEntry[]) {
    const known = await findDetails(this.#options.db, libraryKey, [
      ...new Set(entries.filter((entry) => entry.isReadable).map(({ fileId }) => fileId)),
    ])
    return entries.map((entry) => ({
      entry,
      details: entry.isReadable ? known.get(entry.fileId) : undefined,
    }))
  }

  async *#walk({ key, root }: LibraryInfo): AsyncGenerator<PhotoEntry> {
    yield* this.#photosBelow(key, ROOT, root)
  }

  async *#photosAt(libraryKey: number, path: LibraryPath, entry: Dirent): AsyncGenerator<PhotoEntry> {
    if (entry.kind === 'dir') yield* this.#photosBelow(libraryKey, path, entry.id)
    else {
      const photo = photoOf(parentOf(path), { ...entry, name: baseName(path) })
      if (photo !== undefined) yield photo
    }
  }

  async *#photosBelow(libraryKey: number, folder: LibraryPath, id: DirId): AsyncGenerator<PhotoEntry> {
    const { db, core } = this.#options
    const slicer = new TimeSlicer()
    const open: [path: LibraryPath, id: DirId][] = [[folder, id]]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [parent, dirId] = next
      for (const some of await entriesOnce({ db, objects: storesOf(core).objects }, libraryKey, dirId)) {
        for (const dirent of some) {
          if (slicer.isDue) await slicer.rest()
          if (dirent.kind === 'dir') open.push([joinPath(parent, dirent.name), dirent.id])
          else {
            const photo = photoOf(parent, dirent)
            if (photo !== undefined) yield photo
          }
        }
      }
    }
  }
}

function positionAt({ headSeq: seq, root }: LibraryInfo): IndexPosition {
  return { seq, stood: { seq, root, claim: 0, claimedUntil: 0 } }
}

function photoOf(parent: LibraryPath, dirent: Dirent & { readonly kind: 'file' }): PhotoEntry | undefined {
  const kind = photoKindOf(dirent)
  if (kind === undefined) return undefined
  const { name, id: fileId, size, mtime } = dirent
  return { parent, name, fileId, kind, size, mtime, isReadable: kind === 'image' && isReadable(dirent) }
}

/** The path at which the content of a change is afterwards. */
function arrivalOf(change: Change): LibraryPath | undefined {
  if (change.op === 'deleted') return undefined
  return change.op === 'renamed' ? change.newPath : change.path
}

function isUnread({ entry, details }: { readonly entry: PhotoEntry; readonly details: unknown }): boolean {
  return entry.isReadable && details === undefined
}

async function* emptyTree(): AsyncGenerator<PhotoEntry> {}

async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    if (batch.push(item) < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
