import type { Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { BlockId } from '../../objects/index.ts'

const MOST_REMEMBERED = 50_000
// Rot below the file system leaves no mark on a file, so what was checked long ago is checked again.
const TRUSTED_MS = 600_000
// File systems tell times apart only so well: what was written just now could be written again unnoticed.
const CLOCK_TICK_MS = 100
/** How long before its writing a block's file says it was written, so that any later writing shows. */
const BACKDATED_MS = 1000

type Stamp = Pick<Stats, 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>

/** Remembers which blocks were found to hash to their id, for as long as their files are as they were then. */
export class SoundBlocks {
  readonly #found = new Map<BlockId, Stamp & { readonly at: number }>()

  has(id: BlockId, stats: Stats): boolean {
    const found = this.#found.get(id)
    if (found === undefined) return false
    return isSame(found, stats) && performance.now() - found.at < TRUSTED_MS
  }

  /** `stats` are from before the block was read. */
  add(id: BlockId, stats: Stats): void {
    this.#found.delete(id)
    if (Date.now() - stats.mtimeMs < CLOCK_TICK_MS) return
    const { ino, size, mtimeMs, ctimeMs } = stats
    this.#found.set(id, { ino, size, mtimeMs, ctimeMs, at: performance.now() })
    if (this.#found.size <= MOST_REMEMBERED) return
    for (const oldest of this.#found.keys()) {
      this.#found.delete(oldest)
      return
    }
  }
}

/** Sets the time of a file just written back a little, so that `add` may trust it at once. */
export async function backdate(handle: FileHandle): Promise<void> {
  const time = (Date.now() - BACKDATED_MS) / 1000
  // Where times cannot be set, the block is checked when it is read.
  await handle.utimes(time, time).catch(() => {})
}

/** Not the same if the file was replaced or written to; the time of change cannot be set back. */
function isSame(one: Stamp, other: Stamp): boolean {
  return (
    one.ino === other.ino &&
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs
  )
}
