import {
  type BlockId,
  type DirDirent,
  type Dirent,
  EMPTY_ID,
  type FileDirent,
  type FsId,
} from '../../base/objects/index.ts'
import { joinPath, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import {
  BlockCheck,
  blockRows,
  damagedBlocks,
  type SizedBlock,
  SMALLEST_STORED_BLOCK,
} from '../../libraries/content/index.ts'
import {
  objectRows,
  type PreparedObject,
  prepareWholeDir,
  storedObjects,
} from '../../libraries/tree/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import type { Snapshot } from './snapshot.ts'
import type { SnapshotTree } from './snapshot-tree.ts'

/** The library that gets the content of an entry. */
interface ContentTarget {
  readonly db: Database
  readonly blocks: BlockStore
  readonly libraryKey: number
  /** Unix seconds. */
  readonly now: () => number
}

/** What was copied. */
interface CopiedContent {
  readonly files: number
  readonly bytes: number
  /** Blocks that were read from the backup. The library had the others. */
  readonly blocks: number
  /**
   * Files and folders that neither the backup nor the library has whole, because the server had lost them before. The paths are relative to the
   * entry, which itself is the root.
   */
  readonly lost: readonly LibraryPath[]
}

const FILES_PER_STEP = 400
const SMALL_BLOCKS_PER_TRANSACTION = 100

interface PlacedFile {
  readonly path: LibraryPath
  readonly entry: FileDirent
}

/**
 * Stores everything below an entry of a snapshot in a library: blocks, then the objects of files and folders (I1). All of it is verified, and nothing
 * is visible until a commit refers to it. If none does, garbage collection removes it.
 */
export async function copyFromSnapshot(
  snapshot: Snapshot,
  source: SnapshotTree,
  entry: Dirent,
  target: ContentTarget,
): Promise<CopiedContent> {
  const copy = new ContentCopy(snapshot, source, target)
  const open: { path: LibraryPath; entry: Dirent }[] = [{ path: ROOT, entry }]
  let files: PlacedFile[] = []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, entry: one } = next
    if (one.kind === 'file') files.push({ path, entry: one })
    else {
      for (const child of await copy.addDir(path, one)) {
        open.push({ path: joinPath(path, child.name), entry: child })
      }
    }
    if (files.length < FILES_PER_STEP && open.length > 0) continue
    await copy.addFiles(files)
    files = []
  }
  return copy
}

class ContentCopy implements CopiedContent {
  readonly #snapshot: Snapshot
  readonly #source: SnapshotTree
  readonly #target: ContentTarget
  readonly #check: BlockCheck
  readonly #storedDirs = new Set<string>()
  files = 0
  bytes = 0
  blocks = 0
  readonly lost: LibraryPath[] = []

  constructor(snapshot: Snapshot, source: SnapshotTree, target: ContentTarget) {
    this.#snapshot = snapshot
    this.#source = source
    this.#target = target
    this.#check = new BlockCheck(target.db, target.blocks, target.now)
  }

  /** Stores a dir and returns its entries; none if it is lost. */
  async addDir(path: LibraryPath, { id }: DirDirent): Promise<readonly Dirent[]> {
    if (id === EMPTY_ID) return []
    const { db, libraryKey } = this.#source
    const found = await storedObjects.inspectDir(db, libraryKey, id)
    if ('problem' in found) {
      this.lost.push(path)
      return []
    }
    if (!this.#storedDirs.has(id)) {
      this.#storedDirs.add(id)
      const { dir, size, fileCount, dirCount } = found
      const [whole] = await objectRows.listWhole(db, libraryKey, [id])
      const object = whole ?? resultOf(prepareWholeDir({ dir, size, fileCount, dirCount, depth: 0 }))
      await this.#insert([object])
    }
    return found.entries
  }

  /** Stores the blocks and then the objects of files. */
  async addFiles(files: readonly PlacedFile[]): Promise<void> {
    const { db, libraryKey } = this.#source
    const ids = [...new Set(files.map(({ entry }) => entry.id))].filter((id) => id !== EMPTY_ID)
    const found = await storedObjects.inspectFiles(db, libraryKey, ids)
    const wanted = new Set<BlockId>()
    for (const file of found.values())
      if (!('problem' in file)) for (const id of file.blockIds) wanted.add(id)
    const lostBlocks = await this.#storeBlocks([...wanted])
    const whole = new Set<FsId>()
    for (const [id, file] of found) {
      if (!('problem' in file) && !file.blockIds.some((block) => lostBlocks.has(block))) whole.add(id)
    }
    for (const { path, entry } of files) {
      if (entry.id !== EMPTY_ID && !whole.has(entry.id)) this.lost.push(path)
      else {
        this.files += 1
        this.bytes += entry.size
      }
    }
    if (whole.size > 0) await this.#insert(await objectRows.listWhole(db, libraryKey, [...whole]))
  }

  #insert(objects: readonly PreparedObject[]): Promise<void> {
    const { db, libraryKey } = this.#target
    // The commit that refers to them relies on them.
    return db.write((tx) => objectRows.insert(tx, libraryKey, objects), { durable: 'replicated' })
  }

  /** Stores the blocks that the library lacks or has damaged, and resolves to those that the backup does not have either. */
  async #storeBlocks(ids: readonly BlockId[]): Promise<ReadonlySet<BlockId>> {
    const { db, libraryKey } = this.#target
    const faults = await this.#check.faultsOf(libraryKey, ids, { readData: true })
    const present = ids.filter((id) => !faults.has(id))
    const sizes = await blockRows.findHeld(db, libraryKey, present, { orCondemned: true })
    const held = present.map((id) => ({ id, size: sizes.get(id) ?? 0 }))
    // Written again, so that none of them stays condemned.
    if (held.length > 0) await db.write((tx) => blockRows.insertHeld(tx, libraryKey, held))
    const lost = new Set<BlockId>()
    let small = new Map<BlockId, Uint8Array>()
    const placed = Array.from(faults.keys(), (id) => ({ id, place: this.#snapshot.placeOf(id) }))
    placed.sort((a, b) => (a.place < b.place ? -1 : 1))
    for (const { id } of placed) {
      if (!this.#snapshot.hasBlock(id)) {
        lost.add(id)
        continue
      }
      const bytes = await this.#snapshot.readBlock(id)
      this.blocks += 1
      if (bytes.length >= SMALLEST_STORED_BLOCK) await this.#storeFile({ id, size: bytes.length }, bytes)
      else small.set(id, bytes)
      if (small.size < SMALL_BLOCKS_PER_TRANSACTION) continue
      await this.#storeSmall(small)
      small = new Map()
    }
    await this.#storeSmall(small)
    return lost
  }

  async #storeSmall(small: ReadonlyMap<BlockId, Uint8Array>): Promise<void> {
    const { db, libraryKey } = this.#target
    const held = Array.from(small, ([id, bytes]) => ({ id, size: bytes.length }))
    await db.write(async (tx) => {
      await blockRows.insertSmall(tx, small)
      await blockRows.insertHeld(tx, libraryKey, held)
    })
  }

  async #storeFile(block: SizedBlock, bytes: Buffer): Promise<void> {
    const { db, blocks, libraryKey } = this.#target
    // Not `put`, which leaves a damaged file as it is.
    const writer = blocks.begin()
    await writer.write(bytes)
    await (await writer.finish(block.id)).keep()
    await db.write(async (tx) => {
      await blockRows.insertHeld(tx, libraryKey, [block])
      await damagedBlocks.delete(tx, [block.id])
    })
  }
}

function resultOf<T>(slices: Generator<unknown, T>): T {
  for (let step = slices.next(); ; step = slices.next()) if (step.done === true) return step.value
}
