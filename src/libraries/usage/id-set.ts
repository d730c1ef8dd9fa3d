const MIN_SLOTS = 1024

/**
 * A set of object ids with 8 bytes per id instead of about 100 for a string, because a library may have
 * millions. Ids are distinguished by their first 64 bits.
 */
export class IdSet {
  #slots = new Uint32Array(2 * MIN_SLOTS)
  #count = 0

  get size(): number {
    return this.#count
  }

  /** False if the id is already in the set. Ids are 40 hex characters. */
  add(id: string): boolean {
    if (4 * this.#count >= this.#slots.length) this.#grow()
    if (!place(this.#slots, highOf(id), lowOf(id))) return false
    this.#count += 1
    return true
  }

  has(id: string): boolean {
    const high = highOf(id)
    const low = lowOf(id)
    const slot = slotOf(this.#slots, high, low)
    return this.#slots[2 * slot] === high
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#slots.length)
    for (let at = 0; at < this.#slots.length; at += 2) {
      const high = this.#slots[at] ?? 0
      if (high !== 0) place(larger, high, this.#slots[at + 1] ?? 0)
    }
    this.#slots = larger
  }
}

/**
 * Lossy set of recently seen ids in a fixed number of slots: it may forget an id but never reports one it has
 * not seen.
 */
export class SeenIds {
  readonly #slots: Uint32Array

  /** A power of two. */
  constructor(slots: number) {
    this.#slots = new Uint32Array(2 * slots)
  }

  /** False if the id is in the set. */
  add(id: string): boolean {
    const high = highOf(id)
    const low = lowOf(id)
    const at = 2 * (low & (this.#slots.length / 2 - 1))
    if (this.#slots[at] === high && this.#slots[at + 1] === low) return false
    this.#slots[at] = high
    this.#slots[at + 1] = low
    return true
  }
}

// Neither half may be 0, which marks a free slot.
const highOf = (id: string) => Number.parseInt(id.slice(0, 8), 16) || 1
const lowOf = (id: string) => Number.parseInt(id.slice(8, 16), 16) || 1

function place(slots: Uint32Array, high: number, low: number): boolean {
  const slot = slotOf(slots, high, low)
  if (slots[2 * slot] === high) return false
  slots[2 * slot] = high
  slots[2 * slot + 1] = low
  return true
}

/** The slot of an id, or the free slot for it. */
function slotOf(slots: Uint32Array, high: number, low: number): number {
  const mask = slots.length / 2 - 1
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const found = slots[2 * slot]
    if (found === 0 || (found === high && slots[2 * slot + 1] === low)) return slot
  }
}
