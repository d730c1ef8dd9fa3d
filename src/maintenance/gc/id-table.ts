const MIN_SLOTS = 1024
const WORDS = 5

/**
 * A set of object and block ids with about 40 bytes per id. It compares all 20 bytes: an id that is taken for another would be deleted
 * although it is in use.
 */
export class IdTable {
  #slots = new Uint32Array(WORDS * MIN_SLOTS)
  #count = 0

  get size(): number {
    return this.#count
  }

  /** False if the id is in the set already. */
  add(id: Uint8Array, at = 0): boolean {
    if (2 * WORDS * this.#count >= this.#slots.length) this.#grow()
    const slot = find(this.#slots, wordsOf(id, at))
    if (!isFree(this.#slots, slot)) return false
    this.#slots.set(wordsOf(id, at), slot)
    this.#count += 1
    return true
  }

  has(id: Uint8Array): boolean {
    return !isFree(this.#slots, find(this.#slots, wordsOf(id, 0)))
  }

  /** All ids, ascending. */
  *sorted(): Generator<Uint8Array, void> {
    const slots: number[] = []
    for (let slot = 0; slot < this.#slots.length; slot += WORDS)
      if (!isFree(this.#slots, slot)) slots.push(slot)
    const order = Uint32Array.from(slots)
    order.sort((a, b) => compare(this.#slots, a, b))
    for (const slot of order) {
      const id = Buffer.alloc(4 * WORDS)
      for (let index = 0; index < WORDS; index += 1)
        id.writeUInt32BE(this.#slots[slot + index] ?? 0, 4 * index)
      yield id
    }
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#slots.length)
    for (let slot = 0; slot < this.#slots.length; slot += WORDS) {
      if (isFree(this.#slots, slot)) continue
      const words = this.#slots.subarray(slot, slot + WORDS)
      larger.set(words, find(larger, words))
    }
    this.#slots = larger
  }
}

const words = new Uint32Array(WORDS)

function wordsOf(id: Uint8Array, at: number): Uint32Array {
  const view = new DataView(id.buffer, id.byteOffset + at, 4 * WORDS)
  for (let index = 0; index < WORDS; index += 1) words[index] = view.getUint32(4 * index)
  return words
}

// The empty id, all zeros, is never stored, so zeros mark a free slot.
function isFree(slots: Uint32Array, slot: number): boolean {
  for (let index = 0; index < WORDS; index += 1) if (slots[slot + index] !== 0) return false
  return true
}

/** The slot of an id, or the free slot for it. The number of slots is a power of two. */
function find(slots: Uint32Array, wanted: Uint32Array): number {
  const mask = slots.length / WORDS - 1
  for (let number = (wanted[0] ?? 0) & mask; ; number = (number + 1) & mask) {
    const slot = WORDS * number
    if (isFree(slots, slot)) return slot
    let index = 0
    while (index < WORDS && slots[slot + index] === wanted[index]) index += 1
    if (index === WORDS) return slot
  }
}

function compare(slots: Uint32Array, a: number, b: number): number {
  for (let index = 0; index < WORDS; index += 1) {
    const difference = (slots[a + index] ?? 0) - (slots[b + index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
