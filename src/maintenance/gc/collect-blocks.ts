import { type BlockId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import { condemnedBlocks } from '../../libraries/content/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { BlockMissing, type BlockStore, BlockStoreError } from '../../platform/storage/index.ts'
import { idsIn } from './collect-library.ts'
import type { GcContext } from './collector.ts'
import { IdTable } from './id-table.ts'
import type { Figures } from './report.ts'
import { listUnheld, type UnheldInput } from './unheld.ts'

const ROWS_PER_STEP = 256
/** Fewer blocks are looked up in this process. */
const FEW = 500
const ID_BYTES = 20
const FILES_PER_PROCESS = 100_000
const MAX_AT_ONCE = 1_000_000
/**
 * Bytes wait at most this long after the last reference to them is gone, and as long again in the removal folder. References have waited
 * for the whole grace period, and operations that still use the bytes hold a lease.
 */
export const MAX_BLOCK_GRACE_SECONDS = 900
/** Temp files that nobody has written to for this long belong to a killed process. */
const LEFTOVERS_KEPT_SECONDS = 86_400

const unheldProcess = new URL('./unheld-process.ts', import.meta.url)

/** Everything was collected except some block files that the file system could neither move nor delete. */
class CollectionIncomplete extends Error {
  override readonly name = 'CollectionIncomplete'
}

/** Continues after files that cannot be moved or deleted: one bad file must not keep all others. */
class FileFailures {
  #first: BlockStoreError | undefined
  #count = 0

  /** The result of `work`, or undefined if it failed. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof BlockStoreError)) throw error
      this.#first ??= error
      this.#count += 1
      return undefined
    }
  }

  /** Undefined if there were none. */
  summary(): CollectionIncomplete | undefined {
    if (this.#first === undefined) return undefined
    const files = this.#count === 1 ? 'One block file' : `${this.#count} block files`
    return new CollectionIncomplete(
      `${files} could not be moved or deleted. ${this.#first.message} Nothing in use is affected: see that the disk is sound, and collect again.`,
      { cause: this.#first },
    )
  }
}

/**
 * Collects the bytes that no library refers to: small blocks in rows, and files, also those without any row. Resolves to an error if files could
 * not be moved or deleted. A later run finds them again by listing.
 */
export async function collectBlocks(
  context: GcContext,
  figures: Figures,
): Promise<CollectionIncomplete | undefined> {
  const grace = Math.min(context.graceSeconds, MAX_BLOCK_GRACE_SECONDS)
  const [bytes, rows] = [await context.leases.bound('bytes'), await context.leases.bound('rows')]
  const latest = context.now() - grace + 1
  const before = { condemned: Math.min(bytes.at, latest), removed: Math.min(rows.at, latest) }
  const failures = new FileFailures()
  await removeCondemned(context, before, figures, failures)
  await restoreStrays(context, failures)
  await condemnUnheld(context, figures)
  if (!context.dryRun) {
    figures.freedBytes += await context.blocks.deleteLeftovers(LEFTOVERS_KEPT_SECONDS)
  }
  return failures.summary()
}

/** Times in Unix seconds before which a step must have been done for the next one. */
interface Before {
  readonly condemned: number
  /**
   * A backup that runs now does not hold this one back. It began after everything that is removed was condemned, so no row that it read
   * refers to it.
   */
  readonly removed: number
}

async function removeCondemned(
  context: GcContext,
  before: Before,
  figures: Figures,
  failures: FileFailures,
): Promise<void> {
  const { db, blocks, now, dryRun, dutyCycle } = context
  for (let after: Uint8Array = new Uint8Array(0); ; ) {
    const rows = await condemnedBlocks.listAfter(db, after, ROWS_PER_STEP)
    const due = rows.filter((row) => row.removed_at === null && row.condemned_at < before.condemned)
    const gone = rows.filter((row) => row.removed_at !== null && row.removed_at < before.removed)
    // Deleted, or in use again.
    const settled = new IdTable()
    if (dryRun) {
      figures.deleted.blocks += due.length + gone.length
    } else if (rows.length > 0) {
      const released = await db.write((tx) => condemnedBlocks.releaseHeld(tx, idsOf(rows)))
      figures.released.blocks += released.length
      for (const id of released) {
        await failures.attempt(() => blocks.restore(idFromBytes<BlockId>(id)))
        settled.add(id)
      }
      // Durable before a file is touched: a row that comes back after a power failure must find its bytes.
      const { small, files } = await db.write((tx) =>
        condemnedBlocks.remove(tx, idsOf(due), { before: before.condemned, now: now() }),
      )
      figures.deleted.blocks += small.length
      for (const { id, size } of small) {
        figures.freedBytes += size
        settled.add(id)
      }
      for (const id of files) await failures.attempt(() => blocks.retire(idFromBytes<BlockId>(id)))
      const discarded = await db.write((tx) => condemnedBlocks.deleteRemoved(tx, idsOf(gone), before.removed))
      for (const id of discarded) {
        settled.add(id)
        const freed = (await failures.attempt(() => blocks.discard(idFromBytes<BlockId>(id)))) ?? 0
        figures.freedBytes += freed
        // A block whose file could not be retired, or was restored since, does not count as freed. Listing finds it again.
        if (freed > 0) figures.deleted.blocks += 1
      }
    }
    for (const { id, size } of rows) if (!settled.has(id)) figures.waitingBytes += size ?? 0
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_STEP) return
    after = last.id
    await dutyCycle.rest()
  }
}

/**
 * Restores files from the removal folder that are not condemned: they are referred to again, or a run was interrupted. If nothing refers
 * to them, they are condemned again.
 */
async function restoreStrays({ db, blocks, dryRun }: GcContext, failures: FileFailures): Promise<void> {
  if (dryRun) return
  let page: Uint8Array[] = []
  const settle = async () => {
    const condemned = new Set(
      (await condemnedBlocks.findUnheld(db, page))
        .filter((block) => block.isCondemned)
        .map(({ id }) => idFromBytes<BlockId>(id)),
    )
    for (const id of page.map((bytes) => idFromBytes<BlockId>(bytes))) {
      if (!condemned.has(id)) await failures.attempt(() => blocks.restore(id))
    }
    page = []
  }
  for await (const id of blocks.listRetired()) {
    page.push(idToBytes(id))
    if (page.length >= ROWS_PER_STEP) await settle()
  }
  await settle()
}

async function condemnUnheld(context: GcContext, figures: Figures): Promise<void> {
  const { db, blocks, now, dryRun, dutyCycle, signal = new AbortController().signal } = context
  const condemn = async (files: Uint8Array | undefined) => {
    const input: UnheldInput = { files, most: MAX_AT_ONCE }
    const isShort = files === undefined ? await hasFewSmallBlocks(db) : files.length <= FEW * ID_BYTES
    const unheld = idsIn(
      isShort
        ? await listUnheld(db, input)
        : await db.runInSideProcess<Uint8Array>(unheldProcess, input, signal),
    )
    if (dryRun) {
      figures.condemned.blocks += unheld.length
      return
    }
    for (let from = 0; from < unheld.length; from += ROWS_PER_STEP) {
      const some = unheld.slice(from, from + ROWS_PER_STEP)
      const sized = await withSizes(context, some)
      figures.condemned.blocks += await db.write(async (tx) => {
        const condemned = await condemnedBlocks.condemn(tx, sized, now())
        // Those referred to since they were listed. A backup that begins now would read the reference.
        return condemned - (await condemnedBlocks.releaseHeld(tx, some)).length
      })
      for (const { size } of sized) figures.waitingBytes += size
      await dutyCycle.rest()
    }
  }
  await condemn(undefined)
  let ids: Uint8Array[] = []
  for await (const id of blocks.list()) {
    ids.push(idToBytes(id))
    if (ids.length < FILES_PER_PROCESS) continue
    await condemn(Buffer.concat(ids))
    ids = []
  }
  if (ids.length > 0) await condemn(Buffer.concat(ids))
}

/** Blocks with the bytes they take: 0 for a file that is gone meanwhile. */
async function withSizes(
  { db, blocks }: GcContext,
  ids: readonly Uint8Array[],
): Promise<{ id: Uint8Array; size: number }[]> {
  const small = await condemnedBlocks.findSmallSizes(db, ids)
  const sized: { id: Uint8Array; size: number }[] = []
  for (const id of ids) {
    const known = small.get(Buffer.from(id).toString('hex'))
    sized.push({ id, size: known ?? (await sizeOf(blocks, idFromBytes<BlockId>(id))) })
  }
  return sized
}

async function sizeOf(blocks: BlockStore, id: BlockId): Promise<number> {
  try {
    return await blocks.size(id)
  } catch (error) {
    if (error instanceof BlockMissing) return 0
    throw error
  }
}

async function hasFewSmallBlocks(db: Database): Promise<boolean> {
  return (await condemnedBlocks.listUnheldSmallAfter(db, new Uint8Array(0), FEW)).last === undefined
}

function idsOf(rows: readonly { readonly id: Uint8Array }[]): Uint8Array[] {
  return rows.map(({ id }) => id)
}
