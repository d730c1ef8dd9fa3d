import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from './connection.ts'

/** For VACUUM and new files. */
export const INCREMENTAL = 'pragma auto_vacuum = incremental'

/**
 * Sets the mode in a new file. It takes effect only before journal_mode, which writes the header. A file of an earlier version has to be
 * rewritten (`carrel gc --compact`). In other files the statement would wait for the write lock.
 */
export function prepareNewFile(connection: Connection): void {
  if (Number(connection.get('pragma page_count', [])?.['page_count']) === 0) connection.exec(INCREMENTAL)
}

/**
 * Deleted cells are overwritten with zeros if their page is written anyway. Free pages keep their content until they are released: zeroing
 * them too would write each one to the log.
 */
export const erasingSettings = 'pragma secure_delete = fast;'

// How long one step should take. Writers wait for it, and the event loop of the main file (I10).
const STEP_MS = 2
const FIRST_STEP_PAGES = 16
const MAX_STEP_PAGES = 1024
// Pauses three times as long as a step took, so that at most a quarter of the time is spent on releasing pages.
const PAUSE_FACTOR = 3

/** The result of one step. */
interface ReleaseStep {
  /** Pages given back to the file system. */
  readonly pages: number
  /** Free pages that are left. */
  readonly left: number
  readonly tookMs: number
}

/** Moves pages from the end of the file into at most `most` free pages, and cuts the file. For use in a write transaction. */
export function stepOf(connection: Connection, most: number): ReleaseStep {
  const free = () => Number(connection.get('pragma freelist_count', [])?.['freelist_count'])
  const before = free()
  if (before === 0 || !isIncremental(connection)) return { pages: 0, left: 0, tookMs: 0 }
  const began = performance.now()
  connection.all(`pragma incremental_vacuum(${most})`, [])
  const left = free()
  return { pages: before - left, left, tookMs: performance.now() - began }
}

/** Gives the free pages back to the file system in short steps. Resolves to the number of pages. */
export async function releaseFreePages(
  step: (most: number) => Promise<ReleaseStep>,
  signal: AbortSignal,
): Promise<number> {
  let released = 0
  for (let most = FIRST_STEP_PAGES; !signal.aborted; ) {
    const { pages, left, tookMs } = await step(most)
    released += pages
    if (left === 0 || pages === 0) break
    most = Math.round(Math.min(Math.max(1, (most * STEP_MS) / tookMs), most * 2, MAX_STEP_PAGES))
    await delay(tookMs * PAUSE_FACTOR, undefined, { signal }).catch(() => {})
  }
  return released
}

function isIncremental(connection: Connection): boolean {
  return Number(connection.get('pragma auto_vacuum', [])?.['auto_vacuum']) === 2
}
