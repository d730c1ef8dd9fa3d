/** What a block is kept for; the first of them goes first. */
export const UNREFERENCED = 0
export const CURRENT = 1
export const TRASH = 2
export const HISTORY = 3
export type BlockUse = typeof UNREFERENCED | typeof CURRENT | typeof TRASH | typeof HISTORY

/** Ids are divided into so many parts by their first bits. */
export const PARTS = 64
export const partOf = (id: Uint8Array, at = 0) => (id[at] ?? 0) >>> 2

const FEWEST_SLOTS = 64
const MOST_BLOCKS = 1_500_000

/**
 * What the blocks of a library are kept for, in about 16 MB at most: what does not fit is left to another round. It
 * holds blocks of the parts from `from` up to but not including `to`, which comes down when there are too many.
 */
export class BlockUses implements Disposable {
  readonly from: number
  readonly #most: number
  readonly #parts: UsesOfPart[]
  #count = 0

  constructor(from: number, most = MOST_BLOCKS) {
    this.from = from
    this.#most = most
    this.#parts = Array.from({ length: PARTS - from }, () => new UsesOfPart())
  }

  get to(): number {
    return this.from + this.#parts.length
  }

  /** The first use that is noted of a block is the one that counts. The id is at `at`. */
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

  /** Of a block in one of its parts. */
  find(id: Buffer): BlockUse {
    return this.#parts[partOf(id) - this.from]?.find(id) ?? UNREFERENCED
  }

  [Symbol.dispose](): void {
    for (const part of this.#parts.splice(0)) part[Symbol.dispose]()
  }
}

/** Small enough to grow at one go without holding up anybody. Ids are told apart by their first 62 bits. */
class UsesOfPart implements Disposable {
  count = 0
  // Two numbers a slot: the first 32 bits of an id; the next 30, and two for its use. A second of 0 is a free slot.
  #slots = new Uint32Array(2 * FEWEST_SLOTS)

  note(bytes: Buffer, at: number, use: BlockUse): boolean {
    const high = bytes.readUInt32BE(at)
    const low = bytes.readUInt32BE(at + 4)
    const slot = slotOf(this.#slots, high, low)
    if (this.#slots[slot + 1] !== 0) return false
    this.#slots[slot] = high
    this.#slots[slot + 1] = (low & ~3) | use
    this.count += 1
    // Two numbers a slot, and three in four slots.
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

/** Where a block is, or would be. The last two bits of `low` do not matter. */
function slotOf(slots: Uint32Array, high: number, low: number): number {
  const mask = slots.length / 2 - 1
  for (let slot = (low >>> 2) & mask; ; slot = (slot + 1) & mask) {
    const second = slots[2 * slot + 1] ?? 0
    if (second === 0 || (slots[2 * slot] === high && second >>> 2 === low >>> 2)) return 2 * slot
  }
}

/** At once: garbage is looked for by who needs memory, and an idle process needs none. */
function free(slots: Uint32Array<ArrayBuffer>): void {
  slots.buffer.transfer(0)
}
