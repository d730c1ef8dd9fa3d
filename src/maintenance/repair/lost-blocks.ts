import { type BlockId, idToBytes, sha1Hex } from '../../base/objects/index.ts'
import { blockRows, damagedBlocks, SMALLEST_STORED_BLOCK } from '../../libraries/content/index.ts'
import type { RepairParts } from './repair-parts.ts'

/** Bytes that hash to the id of a block, and where they were found. */
interface BlockCopy {
  readonly bytes: Buffer
  readonly source: string
  /** Whether the server has them, in a row or in a file. */
  readonly isStored: boolean
}

/** A copy of a block: as a row, as a file, as an earlier version of its object in S3, or in a backup. Verified. */
export async function findBlockCopy(
  { db, blocks, sources, findVersion }: RepairParts,
  id: BlockId,
): Promise<BlockCopy | undefined> {
  const row = (await blockRows.findSmall(db, [idToBytes(id)])).get(id)
  if (row !== undefined && sha1Hex(Buffer.from(row)) === id) {
    return { bytes: Buffer.from(row), source: 'a row of the database', isStored: true }
  }
  const file = await Array.fromAsync(blocks.read(id)).catch(() => undefined)
  if (file !== undefined) {
    return { bytes: Buffer.concat(file), source: 'a file of the block store', isStored: true }
  }
  const version = await findVersion(id)
  if (version !== undefined) {
    const source = `an object version of ${version.storedAt.toISOString()}`
    return { bytes: version.bytes, source, isStored: false }
  }
  for (const source of sources) {
    if (!source.hasBlock(id)) continue
    const bytes = await source.readBlock(id).catch(() => undefined)
    if (bytes !== undefined) return { bytes, source: source.name, isStored: false }
  }
  return undefined
}

/** Stores a copy in place of what is damaged, which is kept in the quarantine folder. */
export async function storeBlock(parts: RepairParts, id: BlockId, { bytes }: BlockCopy): Promise<void> {
  const { db, blocks, quarantine, quarantineFile } = parts
  if (bytes.length < SMALLEST_STORED_BLOCK) {
    const damaged = (await blockRows.findSmall(db, [idToBytes(id)])).get(id)
    if (damaged !== undefined && sha1Hex(Buffer.from(damaged)) !== id) await quarantine(id, damaged)
    await db.write((tx) => blockRows.insertSmall(tx, new Map([[id, bytes]])))
    return
  }
  await quarantineFile(id)
  const writer = blocks.begin()
  await writer.write(bytes)
  await (await writer.finish(id)).keep()
  await db.write((tx) => damagedBlocks.delete(tx, [id]))
}

/** Gives a library the row of a block that one of its files refers to. */
export async function grantBlock(
  { db }: RepairParts,
  libraryKey: number,
  id: BlockId,
  { bytes }: BlockCopy,
): Promise<void> {
  await db.write(async (tx) => {
    if (bytes.length < SMALLEST_STORED_BLOCK) await blockRows.insertSmall(tx, new Map([[id, bytes]]))
    await blockRows.insertHeld(tx, libraryKey, [{ id, size: bytes.length }])
  })
}
