import { fail } from '../../base/errors.ts'
import { type BlockId, type FileId, fileId } from '../../base/objects/index.ts'
import { blockRows, CIPHER_BLOCK_BYTES, type Content, keepAll, type TakenBlock } from '../content/index.ts'
import type { EditableLibrary, Library } from '../library/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import type { PushStores } from './push-stores.ts'
import { markVisible, visibleAmong } from './sync-visibility.ts'
import { isGuestIn } from './uncommitted.ts'
import { insertUncommitted } from './uncommitted-store.ts'

// Knowing the id of a block grants no access to it (I7). A library has the blocks it holds. A sub-library has
// only those that its clients were shown or sent. Other blocks of its origin are neither confirmed nor usable
// in a file.

/**
 * Makes stored blocks held by a library (I7), durably. No file has to refer to them yet. Throws
 * quota-exceeded.
 */
export async function holdBlocks(
  stores: PushStores,
  library: EditableLibrary,
  taken: readonly TakenBlock[],
): Promise<void> {
  if (taken.length === 0) return
  const bytes = taken.reduce((sum, { size }) => sum + size, 0)
  using _taken = await stores.uncommitted.take(library, 'blocks', bytes)
  await keepAll(taken)
  const small = new Map<BlockId, Buffer>()
  for (const { id, bytes } of taken) if (bytes !== undefined) small.set(id, bytes)
  await stores.db.write(async (tx) => {
    const { key: libraryKey } = library.info
    const isGuest = isGuestIn(library)
    const sent = taken.map(({ id, size }) => ({ libraryKey, isGuest, id, size }))
    await Promise.all([
      insertUncommitted(tx, stores.db.dialect, sent, stores.now()),
      blockRows.store(tx, sent, small),
    ])
  })
  const ids = taken.map(({ id }) => id)
  await markVisible(stores, library.info, ids)
}

/**
 * Those of `ids` the library does not hold, without duplicates, in the given order. Blocks of other libraries
 * count as missing (I7), as do those whose stored bytes are known to be lost.
 */
export async function missingBlocks(
  stores: PushStores,
  { info }: Library,
  ids: readonly BlockId[],
): Promise<BlockId[]> {
  const unique = [...new Set(ids)]
  const held = await ownBlocks(stores, info, unique)
  return unique.filter((id) => !held.has(id))
}

/** Those of `ids` that the library or sub-library has, with their stored sizes. Blocks whose bytes are lost are left out. */
export async function ownBlocks(
  stores: PushStores,
  info: LibraryInfo,
  ids: readonly BlockId[],
): Promise<Map<BlockId, number>> {
  const shown = await visibleAmong(stores, info, ids)
  return blockRows.findIntact(stores.db, info.key, [...shown])
}

/**
 * The content of a file from blocks the library holds, in order. Throws block-missing, and size-mismatch if
 * the plaintext of the blocks does not have `size` bytes.
 */
export async function contentOfBlocks(
  stores: PushStores,
  { info }: Library,
  ids: readonly BlockId[],
  size: number,
): Promise<Content> {
  const held = await ownBlocks(stores, info, [...new Set(ids)])
  const blocks = ids.map((id) => ({ id, size: held.get(id) ?? fail({ code: 'block-missing', id }) }))
  const { least, most } = paddedSizes(
    blocks.map((block) => block.size),
    info.encryption !== undefined,
  )
  if (size < least || size > most) fail({ code: 'size-mismatch', size })
  return { id: fileId({ blockIds: ids, size }), size, blocks: size === 0 ? [] : blocks, small: new Map() }
}

/**
 * The possible range of a file's size, given the stored sizes of its blocks. In an encrypted library only the
 * client knows the padding, but each block is padded by a bounded amount.
 */
export function paddedSizes(
  blocks: readonly number[],
  isEncrypted: boolean,
): { least: number; most: number } {
  const stored = blocks.reduce((sum, size) => sum + size, 0)
  if (!isEncrypted) return { least: stored, most: stored }
  const isPadded = blocks.every((size) => size % CIPHER_BLOCK_BYTES === 0)
  if (!isPadded) return { least: 1, most: 0 }
  return { least: stored - blocks.length * CIPHER_BLOCK_BYTES, most: stored - blocks.length }
}

/** The stored sizes of a file's blocks, in order; undefined for a file the library does not hold. Throws block-missing. */
export async function blockSizes(
  { db, objects }: PushStores,
  { info }: Library,
  id: FileId,
): Promise<number[] | undefined> {
  const file = await objects.findFile(info.key, id)
  if (file === undefined) return undefined
  const held = await blockRows.findHeld(db, info.key, [...new Set(file.blockIds)], { orCondemned: true })
  return file.blockIds.map((block) => held.get(block) ?? fail({ code: 'block-missing', id: block }))
}
