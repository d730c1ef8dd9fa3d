import type { Stats } from 'node:fs'
import type { BlockId } from '../../objects/ids.ts'

const MOST_REMEMBERED = 50_000
// Rot below the file system leaves no mark on a file, so what was checked long ago is checked again.
const TRUSTED_MS = 600_000

/** Remembers which blocks were found to hash to their id, for as long as their files are as they were then. */
export class SoundBlocks {
  readonly #found = new Map<BlockId, { readonly stamp: string; readonly at: number }>()

  has(id: BlockId, stats: Stats): boolean {
    const found = this.#found.get(id)
    if (found === undefined) return false
    return found.stamp === stampOf(stats) && performance.now() - found.at < TRUSTED_MS
  }

  /** `stats` are from before the block was read. */
  add(id: BlockId, stats: Stats): void {
    this.#found.delete(id)
    this.#found.set(id, { stamp: stampOf(stats), at: performance.now() })
    if (this.#found.size <= MOST_REMEMBERED) return
    for (const oldest of this.#found.keys()) {
      this.#found.delete(oldest)
      return
    }
  }
}

/** Differs when the file was replaced or written to; the time of change cannot be set back. */
function stampOf({ ino, size, ctimeMs }: Stats): string {
  return `${ino} ${size} ${ctimeMs}`
}
