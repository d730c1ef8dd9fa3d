import { type BlockId, idFromBytes, idToBytes, LONGEST_BLOCK } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { SizedBlock } from './block-rows-store.ts'
import { releaseBlocks } from './condemned-store.ts'
import type { StagedBlock } from './staged-block-store.ts'

/**
 * Adds blocks to a packed archive, of which the first begins at `offset`. Their bytes are durable, except for those of small ones, which this
 * transaction stores. As long as they are listed here, garbage collection keeps them.
 */
async function insertArchiveBlocks(
  tx: Transaction,
  archiveKey: number,
  offset: number,
  blocks: readonly SizedBlock[],
): Promise<void> {
  await releaseBlocks(
    tx,
    blocks.map(({ id }) => idToBytes(id)),
  )
  let position = offset
  const rows = blocks.map(({ id, size }) => {
    const row = [archiveKey, position, idToBytes(id), size]
    position += size
    return row
  })
  if (rows.length > 0) await tx.insert('archive_block', ['archive_key', 'position', 'block_id', 'size'], rows)
}

/** The blocks of an archive that contain bytes of a range, in order. Some earlier ones may be among them. */
async function listArchiveBlocks(
  reader: Reader,
  archiveKey: number,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<StagedBlock[]> {
  const rows = await reader.all<{ position: number; block_id: Uint8Array; size: number }>(
    `select position, block_id, size from archive_block
     where archive_key = ? and position > ? and position < ? order by position`,
    archiveKey,
    start - LONGEST_BLOCK,
    end,
  )
  return rows.map(({ position, block_id, size }) => ({
    id: idFromBytes<BlockId>(block_id),
    offset: position,
    size,
    length: size,
    isFinal: true,
  }))
}

/** Removes the blocks of an archive that is packed again. */
async function deleteArchiveBlocks(tx: Transaction, archiveKey: number): Promise<void> {
  await tx.run('delete from archive_block where archive_key = ?', archiveKey)
}

/** The rows of the blocks of finished archives. */
export const archiveBlockRows = {
  insert: insertArchiveBlocks,
  list: listArchiveBlocks,
  delete: deleteArchiveBlocks,
}
