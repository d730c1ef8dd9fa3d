import { fail } from '../errors.ts'
import { fileId } from '../objects/file.ts'
import type { BlockId } from '../objects/ids.ts'
import { findHeldBlocks, insertHeldBlocks, insertSmallBlocks } from './block-rows-store.ts'
import type { Content } from './content.ts'
import type { LibraryCore } from './core.ts'
import { CIPHER_BLOCK_BYTES } from './data-key.ts'
import type { TakenBlock } from './incoming-block.ts'
import type { EditableLibrary, Library } from './library.ts'

/** Makes blocks that came in a library's own (I7), durably. No file has to name them yet. */
export async function holdBlocks(
  { db }: LibraryCore,
  library: EditableLibrary,
  taken: readonly TakenBlock[],
): Promise<void> {
  if (taken.length === 0) return
  await Promise.all(taken.map((block) => block.durable))
  const small = new Map<BlockId, Buffer>()
  for (const { id, bytes } of taken) if (bytes !== undefined) small.set(id, bytes)
  await db.write(async (tx) => {
    await insertSmallBlocks(tx, small)
    await insertHeldBlocks(tx, library.info.key, taken)
  })
}

/** Those of `ids` the library does not hold, each once, in the order asked. Other libraries' blocks are not here (I7). */
export async function missingBlocks(
  { db }: LibraryCore,
  library: Library,
  ids: readonly BlockId[],
): Promise<BlockId[]> {
  const unique = [...new Set(ids)]
  const held = await findHeldBlocks(db, library.info.key, unique)
  return unique.filter((id) => !held.has(id))
}

/**
 * The content of a file made of blocks the library holds, in order. Throws block-missing, and size-mismatch
 * if `size`, that of the plaintext, is not what the blocks amount to.
 */
export async function contentOfBlocks(
  { db }: LibraryCore,
  { info }: Library,
  ids: readonly BlockId[],
  size: number,
): Promise<Content> {
  const held = await findHeldBlocks(db, info.key, [...new Set(ids)])
  const blocks = ids.map((id) => ({ id, size: held.get(id) ?? fail({ code: 'block-missing', id }) }))
  const stored = blocks.reduce((sum, block) => sum + block.size, 0)
  const isEncrypted = info.encryption !== undefined
  // Each block is padded by a byte at least and a whole cipher block at most; how much, the client knows.
  const [least, most] = isEncrypted
    ? [stored - blocks.length * CIPHER_BLOCK_BYTES, stored - blocks.length]
    : [stored, stored]
  const isPadded = blocks.every((block) => block.size % CIPHER_BLOCK_BYTES === 0)
  if (size < least || size > most || (isEncrypted && !isPadded)) fail({ code: 'size-mismatch', size })
  return { id: fileId({ blockIds: ids, size }), size, blocks: size === 0 ? [] : blocks, small: new Map() }
}
