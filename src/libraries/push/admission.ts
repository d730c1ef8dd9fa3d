import { fail } from '../../base/errors.ts'
import {
  type BlockId,
  type Dir,
  type DirDirent,
  type Dirent,
  type DirId,
  EMPTY_ID,
  type FileDirent,
  type FileId,
  type FileObject,
  type FsId,
} from '../../base/objects/index.ts'
import { unpackDir } from '../../base/packing/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import {
  changedEntries,
  countDirs,
  DIR,
  FILE,
  objectRows,
  type PreparedObject,
  prepareDir,
  readFileRow,
  type StoredDir,
  type Totals,
} from '../tree/index.ts'
import { ownBlocks, paddedSizes } from './block-upload.ts'
import type { PushStores } from './push-stores.ts'
import {
  claimReceived,
  findHeld,
  findReceived,
  type HeldObject,
  type ReceivedObject,
} from './received-store.ts'
import { markVisible, sentOrVisibleAmong, visibleAmong } from './sync-visibility.ts'
import { claimBlocks } from './uncommitted-store.ts'

const FILES_PER_STEP = 500
const FLUSHED_OBJECTS = 1000
const FLUSHED_BYTES = 4 * 2 ** 20

/** Totals with a known number of dirs. */
type Counted = Totals & { readonly dirCount: number }

/**
 * A dir being admitted: its growth over the dir it replaces, and the dirs below it that are admitted first.
 */
interface Frame {
  readonly dir: Dir
  /** The dir at the same path in the previous tree. */
  readonly before: StoredDir
  readonly changes: ReadonlyMap<string, Dirent | null>
  readonly below: { readonly entry: DirDirent; readonly before: DirId }[]
  size: number
  fileCount: number
  dirCount: number
}

/**
 * Admits received objects to a library: the dirs and files of a tree, children first. Everything a library
 * holds is therefore complete, dirs down to files and files down to blocks, and only objects it does not hold
 * are checked. Compared with the previous tree, only entries that differ are visited.
 */
export class Admission {
  readonly #stores: PushStores
  readonly #library: LibraryInfo
  readonly #slicer = new TimeSlicer()
  readonly #totals = new Map<DirId, Counted>()
  #ready: PreparedObject[] = []
  #readyDirs: StoredDir[] = []
  /** Blocks of the files in `#ready`. */
  #readyBlocks = new Set<BlockId>()
  #readyBytes = 0
  #claim = 0
  /** Bytes of files beyond the sizes in their dirents. */
  #unaccounted = 0

  constructor(stores: PushStores, library: LibraryInfo) {
    this.#stores = stores
    this.#library = library
  }

  /**
   * Admits the tree of `root`, whose previous state is `before`. Returns the bytes that its dirents do not
   * account for. Admitted objects are marked with `claim` until the commit is part of the history. Throws
   * object-missing, blocks-missing, object-invalid; objects admitted before that are complete and stay.
   */
  async admit(root: DirId, before: DirId, claim: number): Promise<{ unaccounted: number }> {
    this.#unaccounted = 0
    this.#claim = claim
    const held = root === EMPTY_ID ? undefined : (await this.#ownHeld([root])).get(root)
    if (held !== undefined && held.kind !== DIR)
      fail({ code: 'object-invalid', reason: 'its root is no dir' })
    if (held === undefined && root !== EMPTY_ID) await this.#walk(root, before)
    await this.#flush()
    return { unaccounted: this.#unaccounted }
  }

  async #walk(root: DirId, before: DirId): Promise<void> {
    const open = [await this.#enter(root, before)]
    for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
      const next = frame.below.at(-1)
      if (next === undefined) {
        open.pop()
        await this.#leave(frame)
        continue
      }
      const known = this.#totals.get(next.entry.id)
      if (known === undefined) {
        open.push(await this.#enter(next.entry.id, next.before))
      } else {
        frame.below.pop()
        this.#add(frame, { ...known, dirCount: known.dirCount + 1 })
      }
    }
  }

  async #enter(id: DirId, beforeId: DirId): Promise<Frame> {
    const dir = await this.#receivedDir(id)
    const before = await this.#stores.objects.getDir(this.#library.key, beforeId)
    const { changes, old } = await changedEntries(before.dir, dir, this.#slicer)
    const frame: Frame = {
      dir,
      before,
      changes,
      below: [],
      size: before.size,
      fileCount: before.fileCount,
      dirCount: before.dirCount ?? (await this.#countDirs(beforeId)),
    }
    await this.#subtract(frame, old)
    const fresh = [...changes.values()].filter((entry) => entry !== null)
    for (let start = 0; start < fresh.length; start += FILES_PER_STEP) {
      await this.#addEntries(frame, fresh.slice(start, start + FILES_PER_STEP))
      if (this.#slicer.isDue) await this.#slicer.rest()
    }
    return frame
  }

  async #subtract(frame: Frame, old: readonly Dirent[]): Promise<void> {
    const dirs = old.filter((entry) => entry.kind === 'dir' && entry.id !== EMPTY_ID)
    const held = await findHeld(
      this.#stores.db,
      this.#library.key,
      dirs.map(({ id }) => id),
      { orCondemned: true },
    )
    for (const entry of old) {
      if (entry.kind === 'file') {
        frame.size -= entry.size
        frame.fileCount -= 1
        continue
      }
      const totals = held.get(entry.id)
      frame.size -= totals?.size ?? 0
      frame.fileCount -= totals?.fileCount ?? 0
      frame.dirCount -=
        1 + (entry.id === EMPTY_ID ? 0 : (totals?.dirCount ?? (await this.#countDirs(entry.id))))
    }
  }

  async #addEntries(frame: Frame, entries: readonly Dirent[]): Promise<void> {
    const ids = entries.map((entry): FsId => entry.id).filter((id) => id !== EMPTY_ID)
    const held = await this.#ownHeld([...new Set(ids)])
    const files: FileDirent[] = []
    for (const entry of entries) {
      if (entry.kind === 'file') {
        files.push(entry)
        this.#add(frame, { size: entry.size, fileCount: 1, dirCount: 0 })
      } else if (entry.id === EMPTY_ID) {
        frame.dirCount += 1
      } else {
        const known = held.get(entry.id)
        if (known === undefined) {
          const old = frame.before.dir.find(entry.name)
          frame.below.push({ entry, before: old?.kind === 'dir' ? old.id : EMPTY_ID })
        } else {
          const totals = expectKind(known, DIR, entry)
          const dirCount = totals.dirCount ?? (await this.#countDirs(entry.id))
          this.#add(frame, { ...totals, dirCount: dirCount + 1 })
        }
      }
    }
    await this.#addFiles(files, held)
  }

  #add(frame: Frame, { size, fileCount, dirCount }: Counted): void {
    frame.size += size
    frame.fileCount += fileCount
    frame.dirCount += dirCount
    // A few dirs that refer to each other can expand to any number of files.
    const entries = frame.fileCount + frame.dirCount
    if (!Number.isSafeInteger(frame.size) || !Number.isSafeInteger(entries)) {
      fail({ code: 'object-invalid', reason: 'the tree is too large' })
    }
  }

  /** Admits the files not held yet. Their blocks must be held. */
  async #addFiles(entries: readonly FileDirent[], held: ReadonlyMap<FsId, HeldObject>): Promise<void> {
    const wanted = new Map<FileId, FileDirent>()
    for (const entry of entries) {
      const known = held.get(entry.id)
      if (known !== undefined) this.#noteSize(entry, expectKind(known, FILE, entry).size)
      else if (entry.id !== EMPTY_ID) wanted.set(entry.id, entry)
      else this.#noteSize(entry, 0)
    }
    if (wanted.size === 0) return
    const received = await this.#received([...wanted.keys()])
    const files = new Map<FileId, FileObject>()
    for (const [id, entry] of wanted) {
      const object = received.get(id)
      if (object === undefined) continue
      if (object.kind !== FILE) fail({ code: 'object-invalid', reason: `${entry.name} is no file` })
      files.set(id, readFileRow(object))
      this.#noteSize(entry, object.size)
    }
    await this.#checkBlocks(files, wanted)
    for (const file of files.values()) for (const id of file.blockIds) this.#readyBlocks.add(id)
    for (const id of files.keys()) {
      const { kind, encoding, size, data } = received.get(id) as ReceivedObject
      await this.#put({
        id,
        kind,
        encoding,
        base: undefined,
        depth: 0,
        size,
        fileCount: 1,
        dirCount: 0,
        data,
      })
    }
  }

  async #checkBlocks(
    files: ReadonlyMap<FileId, FileObject>,
    entries: ReadonlyMap<FileId, FileDirent>,
  ): Promise<void> {
    const ids = new Set<BlockId>()
    for (const file of files.values()) for (const id of file.blockIds) ids.add(id)
    const sizes = await ownBlocks(this.#stores, this.#library, [...ids])
    const incomplete = [...files].filter(([, file]) => !file.blockIds.every((id) => sizes.has(id)))
    if (incomplete.length > 0) {
      fail({ code: 'blocks-missing', names: incomplete.map(([id]) => entries.get(id)?.name ?? '') })
    }
    for (const [id, file] of files) {
      const blocks = file.blockIds.map((block) => sizes.get(block) ?? 0)
      const { least, most } = paddedSizes(blocks, this.#library.encryption !== undefined)
      if (file.size < least || file.size > most) {
        fail({ code: 'object-invalid', reason: `${entries.get(id)?.name} is not as large as its blocks` })
      }
    }
  }

  /**
   * A file that grew while a client read it may be larger than its dirent says. Rejecting it would stop that
   * client's sync for good.
   */
  #noteSize(entry: FileDirent, size: number): void {
    this.#unaccounted += Math.max(0, size - entry.size)
  }

  async #leave(frame: Frame): Promise<void> {
    const { dir, before, changes, size, fileCount, dirCount } = frame
    const base = before.dir.size > 0 ? before : undefined
    const { object, stored } = prepareDir(dir, { size, fileCount, dirCount }, base, changes)
    this.#totals.set(dir.id, { size, fileCount, dirCount })
    this.#readyDirs.push(stored)
    await this.#put(object)
  }

  async #put(object: PreparedObject): Promise<void> {
    this.#ready.push(object)
    this.#readyBytes += object.data.length
    if (this.#ready.length >= FLUSHED_OBJECTS || this.#readyBytes >= FLUSHED_BYTES) await this.#flush()
  }

  /**
   * Children are written before or with their parents, and all of them before the commit, which relies on them (I1).
   */
  async #flush(): Promise<void> {
    const [ready, dirs, blocks] = [this.#ready, this.#readyDirs, this.#readyBlocks]
    if (ready.length === 0) return
    this.#ready = []
    this.#readyDirs = []
    this.#readyBlocks = new Set()
    this.#readyBytes = 0
    const { key } = this.#library
    await this.#stores.db.write(
      async (tx) => {
        await objectRows.insert(tx, key, ready)
        await claimReceived(
          tx,
          key,
          ready.map(({ id }) => id),
          this.#claim,
        )
        await claimBlocks(tx, key, [...blocks], this.#claim)
      },
      { durable: 'replicated' },
    )
    const ids = ready.map(({ id }) => id)
    await markVisible(this.#stores, this.#library, ids)
    for (const stored of dirs) this.#stores.objects.cacheDir(key, stored)
  }

  #countDirs(id: DirId): Promise<number> {
    return countDirs(this.#stores.objects, this.#library.key, id)
  }

  async #receivedDir(id: DirId): Promise<Dir> {
    const object = (await this.#received([id])).get(id)
    // Another push admitted it meanwhile.
    if (object === undefined) return (await this.#stores.objects.getDir(this.#library.key, id)).dir
    if (object.kind !== DIR) fail({ code: 'object-invalid', reason: `${id} is no dir` })
    return unpackDir(Buffer.from(object.data), id)
  }

  /**
   * Throws object-missing for ids neither received nor held. Held ones are read again: another push may have
   * admitted some meanwhile.
   */
  async #received(ids: readonly FsId[]): Promise<Map<FsId, ReceivedObject>> {
    const { db } = this.#stores
    // Objects that others sent to the origin are not visible in the sub-library either.
    const own = await sentOrVisibleAmong(this.#stores, this.#library, ids)
    const received = await findReceived(db, this.#library.key, [...own])
    const others = ids.filter((id) => !received.has(id))
    const held = others.length === 0 ? undefined : await this.#ownHeld(others)
    const missing = others.find((id) => !held?.has(id))
    if (missing !== undefined) fail({ code: 'object-missing', id: missing })
    return received
  }

  /**
   * In a sub-library, only objects its clients were shown or have sent. The rest of the origin is not visible
   * (I7).
   */
  async #ownHeld(ids: readonly FsId[]): Promise<Map<FsId, HeldObject>> {
    const visible = await visibleAmong(this.#stores, this.#library, ids)
    return findHeld(this.#stores.db, this.#library.key, [...visible], { orCondemned: false })
  }
}

function expectKind(held: HeldObject, kind: number, entry: Dirent): HeldObject {
  return held.kind === kind
    ? held
    : fail({ code: 'object-invalid', reason: `${entry.name} is no ${entry.kind}` })
}
