import type { Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { BlockId } from '../../../../base/objects/index.ts'

const MAX_BLOCKS = 50_000
// Bit rot below the file system does not change a file's times, so a verification expires.
const TRUSTED_MS = 600_000
// Resolution of file times: a file written more recently could be written again without a visible change.
const CLOCK_TICK_MS = 100
/** The mtime of a new file is set back by this much, so that any later write changes it visibly. */
const BACKDATED_MS = 1000

type Stamp = Pick<Stats, 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>

/** Cache of blocks verified to hash to their id. An entry is valid for ten minutes and while inode, size and times of the file are unchanged. */
export class VerifiedBlocks {
  readonly #entries = new Map<BlockId, Stamp & { readonly at: number }>()

  has(id: BlockId, stats: Stats): boolean {
    const found = this.#entries.get(id)
    if (found === undefined) return false
    return isUnchanged(found, stats) && performance.now() - found.at < TRUSTED_MS
  }

  /** `stats` must be from before the block was read. */
  add(id: BlockId, stats: Stats): void {
    this.#entries.delete(id)
    if (Date.now() - stats.mtimeMs < CLOCK_TICK_MS) return
    const { ino, size, mtimeMs, ctimeMs } = stats
    this.#entries.set(id, { ino, size, mtimeMs, ctimeMs, at: performance.now() })
    if (this.#entries.size <= MAX_BLOCKS) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }
}

/** Sets the mtime of a new file back, so that `add` accepts it at once. */
export async function backdate(handle: FileHandle): Promise<void> {
  const time = (Date.now() - BACKDATED_MS) / 1000
  // If times cannot be set, the block is verified when it is read.
  await handle.utimes(time, time).catch(() => {})
}

/** False if the file was replaced or written to; ctime cannot be set back. */
function isUnchanged(one: Stamp, other: Stamp): boolean {
  return (
    one.ino === other.ino &&
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs
  )
}
