/** The uses of a block. The lowest nonzero one takes precedence. */
export const UNREFERENCED = 0
export const CURRENT = 1
export const TRASH = 2
export const HISTORY = 3
export type BlockUse = typeof UNREFERENCED | typeof CURRENT | typeof TRASH | typeof HISTORY

/** Ids are partitioned by their first bits. */
export const PARTS = 64
export const partOf = (id: Uint8Array, at = 0) => (id[at] ?? 0) >>> 2

const MIN_SLOTS = 64
const MAX_BLOCKS = 1_500_000

/**
 * The uses of a library's blocks, in about 16 MB at most. It covers the partitions from `from` up to, not
 * including, `to`. `to` is lowered when there are too many blocks, and the rest is left to another pass.
 */
export class BlockUses implements Disposable {
  readonly from: number
  readonly #most: number
  readonly #parts: UsesOfPart[]
  #count = 0

  constructor(from: number, most = MAX_BLOCKS) {
    this.from = from
    this.#most = most
    this.#parts = Array.from({ length: PARTS - from }, () => new UsesOfPart())
  }

  get to(): number {
    return this.from + this.#parts.length
  }

  /** Records a use, unless the block already has one. The id starts at `at`. */
  note(bytes: Buffer, at: number, use: BlockUse): void {
    const part = this.#parts[partOf(bytes, at) - this.from]
    if (part === undefined || !part.note(bytes, at, use)) return
    this.#count += 1
    while (this.#count > this.#most && this.#parts.length > 1) {
      for (const dropped of this.#parts.splice(Math.ceil(this.#parts.length / 2))) {
        this.#count -= dropped.count
        dropped[Symbol.dispose]()
      }
    }
  }

  /** `id` must be in one of the covered partitions. */
  find(id: Buffer): BlockUse {
    return this.#parts[partOf(id) - this.from]?.find(id) ?? UNREFERENCED
  }

  [Symbol.dispose](): void {
    for (const part of this.#parts.splice(0)) part[Symbol.dispose]()
  }
}

/**
 * Hash table of one partition, small enough to grow without blocking. Ids are distinguished by their first 62
 * bits.
 */
class UsesOfPart implements Disposable {
  count = 0
  // Two numbers per slot: bits 0–31 of the id, then bits 32–61 with two bits for the use. A slot is free if
  // the second is 0.
  #slots = new Uint32Array(2 * MIN_SLOTS)

  note(bytes: Buffer, at: number, use: BlockUse): boolean {
    const high = bytes.readUInt32BE(at)
    const low = bytes.readUInt32BE(at + 4)
    const slot = slotOf(this.#slots, high, low)
    if (this.#slots[slot + 1] !== 0) return false
    this.#slots[slot] = high
    this.#slots[slot + 1] = (low & ~3) | use
    this.count += 1
    // Grows at a load factor of 3/4; a slot has two numbers.
    if (8 * this.count >= 3 * this.#slots.length) this.#grow()
    return true
  }

  find(id: Buffer): BlockUse {
    const slot = slotOf(this.#slots, id.readUInt32BE(0), id.readUInt32BE(4))
    return ((this.#slots[slot + 1] ?? 0) & 3) as BlockUse
  }

  [Symbol.dispose](): void {
    free(this.#slots)
  }

  #grow(): void {
    const old = this.#slots
    const larger = new Uint32Array(2 * old.length)
    for (let at = 0; at < old.length; at += 2) {
      const high = old[at] ?? 0
      const second = old[at + 1] ?? 0
      if (second === 0) continue
      const slot = slotOf(larger, high, second)
      larger[slot] = high
      larger[slot + 1] = second
    }
    this.#slots = larger
    free(old)
  }
}

/** The slot of an id, or the free slot for it. The last two bits of `low` are ignored. */
function slotOf(slots: Uint32Array, high: number, low: number): number {
  const mask = slots.length / 2 - 1
  for (let slot = (low >>> 2) & mask; ; slot = (slot + 1) & mask) {
    const second = slots[2 * slot + 1] ?? 0
    if (second === 0 || (slots[2 * slot] === high && second >>> 2 === low >>> 2)) return 2 * slot
  }
}

/** Frees the memory at once: an idle process may not run a garbage collection for a long time. */
function free(slots: Uint32Array<ArrayBuffer>): void {
  slots.buffer.transfer(0)
}
