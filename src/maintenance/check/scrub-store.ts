import type { Database, Reader } from '../../platform/database/index.ts'

/** The pass of the scrub that is under way, and the last complete one. Times in Unix seconds. */
export interface ScrubProgress {
  /** The last block that was read in this pass; empty before the first. */
  readonly position: Uint8Array
  readonly startedAt: number
  readonly blocks: number
  readonly bytes: number
  readonly found: number
  readonly last: ScrubPass | undefined
}

/** A complete pass. */
interface ScrubPass {
  readonly startedAt: number
  readonly finishedAt: number
  readonly blocks: number
  readonly bytes: number
  readonly found: number
}

interface ProgressRow {
  position: Uint8Array
  started_at: number
  blocks: number
  bytes: number
  found: number
  last_started_at: number | null
  last_finished_at: number | null
  last_blocks: number
  last_bytes: number
  last_found: number
}

export async function findScrubProgress(reader: Reader): Promise<ScrubProgress | undefined> {
  const row = await reader.get<ProgressRow>('select * from scrub_progress where key = 1')
  if (row === undefined) return undefined
  const { position, started_at: startedAt, blocks, bytes, found } = row
  const last =
    row.last_started_at === null || row.last_finished_at === null
      ? undefined
      : {
          startedAt: row.last_started_at,
          finishedAt: row.last_finished_at,
          blocks: row.last_blocks,
          bytes: row.last_bytes,
          found: row.last_found,
        }
  return { position, startedAt, blocks, bytes, found, last }
}

/** Starts the first pass ever, unless another process did. */
export async function startScrub(db: Database, now: number): Promise<void> {
  const columns = ['key', 'position', 'started_at']
  await db.write(
    (tx) => tx.insert('scrub_progress', columns, [[1, new Uint8Array(0), now]], { ignoreExisting: true }),
    { durable: false },
  )
}

/** Advances the position and adds to the counts. Does nothing if another process advanced it first. */
export async function moveScrub(
  db: Database,
  from: Uint8Array,
  step: { to: Uint8Array; blocks: number; bytes: number; found: number },
): Promise<void> {
  const sql = `update scrub_progress set position = ?, blocks = blocks + ?, bytes = bytes + ?, found = found + ?
    where key = 1 and position = ?`
  await db.write((tx) => tx.run(sql, step.to, step.blocks, step.bytes, step.found, from), { durable: false })
}

/** Ends a pass. The next one starts at `nextAt`. */
export async function finishScrub(
  db: Database,
  from: Uint8Array,
  times: { now: number; nextAt: number },
): Promise<void> {
  const sql = `update scrub_progress set last_started_at = started_at, last_finished_at = ?, last_blocks = blocks,
      last_bytes = bytes, last_found = found, position = ?, started_at = ?, blocks = 0, bytes = 0, found = 0
    where key = 1 and position = ?`
  const { now, nextAt } = times
  await db.write((tx) => tx.run(sql, now, new Uint8Array(0), nextAt, from), { durable: false })
}
