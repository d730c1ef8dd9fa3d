import { type BlockId, idFromBytes, idToBytes, LONGEST_BLOCK } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { SizedBlock } from './block-rows-store.ts'
import { releaseBlocks } from './condemned-store.ts'

const ROWS_PER_QUERY = 1000

/** A block of an unfinished upload. `size` is its stored length. */
export interface StagedBlock extends SizedBlock {
  /** Where it begins in the file, in bytes. */
  readonly offset: number
  /** Bytes of the file it holds. */
  readonly length: number
  /** Whether it is a block of the file. Others are pieces of the block that is not complete yet. */
  readonly isFinal: boolean
}

interface StagedRow {
  position: number
  block_id: Uint8Array
  size: number
  length: number
  is_final: number
}

/** The blocks of an upload that a chunk at `offset` may change: the incomplete one before it, and all after it. Some earlier ones may be among them. */
function listStagedAt(reader: Reader, uploadKey: number, offset: number): Promise<StagedBlock[]> {
  return listStaged(reader, uploadKey, offset - LONGEST_BLOCK, Number.MAX_SAFE_INTEGER)
}

/** The blocks of an upload that begin before `offset`, in order. */
function listStagedBefore(reader: Reader, uploadKey: number, offset: number): Promise<StagedBlock[]> {
  return listStaged(reader, uploadKey, 0, offset)
}

async function listStaged(
  reader: Reader,
  uploadKey: number,
  from: number,
  to: number,
): Promise<StagedBlock[]> {
  const blocks: StagedBlock[] = []
  for (let start = from; ; ) {
    const rows = await reader.all<StagedRow>(
      `select position, block_id, size, length, is_final from staged_block
       where upload_key = ? and position >= ? and position < ? order by position limit ${ROWS_PER_QUERY}`,
      uploadKey,
      start,
      to,
    )
    for (const row of rows) {
      const { position: offset, size, length } = row
      blocks.push({
        id: idFromBytes<BlockId>(row.block_id),
        offset,
        size,
        length,
        isFinal: row.is_final === 1,
      })
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_QUERY) return blocks
    start = last.position + 1
  }
}

/**
 * Replaces the blocks of an upload that begin at `from` or later. Their bytes are durable, except for those of small ones, which this
 * transaction stores. As long as they are listed here, garbage collection keeps them.
 */
async function replaceStagedBlocks(
  tx: Transaction,
  uploadKey: number,
  from: number,
  blocks: readonly StagedBlock[],
): Promise<void> {
  await tx.run('delete from staged_block where upload_key = ? and position >= ?', uploadKey, from)
  await releaseBlocks(
    tx,
    blocks.map(({ id }) => idToBytes(id)),
  )
  const columns = ['upload_key', 'position', 'block_id', 'size', 'length', 'is_final']
  const rows = blocks.map(({ id, offset, size, length, isFinal }) => [
    uploadKey,
    offset,
    idToBytes(id),
    size,
    length,
    isFinal ? 1 : 0,
  ])
  if (rows.length > 0) await tx.insert('staged_block', columns, rows)
}

/** The rows of blocks of unfinished uploads. */
export const stagedBlockRows = {
  listAt: listStagedAt,
  listBefore: listStagedBefore,
  replace: replaceStagedBlocks,
}
