const ID_BYTES = 20
const MIN_IDS = 64

/** A growing list of ids with a number each, 24 bytes per entry. */
export class IdList {
  #ids = Buffer.alloc(MIN_IDS * ID_BYTES)
  #numbers = new Int32Array(MIN_IDS)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(id: Uint8Array, number = 0): void {
    if (this.#length === this.#numbers.length) this.#grow()
    this.#ids.set(id, this.#length * ID_BYTES)
    this.#numbers[this.#length] = number
    this.#length += 1
  }

  /** The ids, 20 bytes each. */
  ids(): Buffer {
    return this.#ids.subarray(0, this.#length * ID_BYTES)
  }

  numbers(): Int32Array {
    return this.#numbers.subarray(0, this.#length)
  }

  /** The ids with the highest numbers first. */
  idsDescending(): Buffer {
    const order = Uint32Array.from({ length: this.#length }, (_, index) => index)
    order.sort((a, b) => (this.#numbers[b] ?? 0) - (this.#numbers[a] ?? 0))
    const sorted = Buffer.alloc(this.#length * ID_BYTES)
    for (const [to, from] of order.entries()) {
      this.#ids.copy(sorted, to * ID_BYTES, from * ID_BYTES, (from + 1) * ID_BYTES)
    }
    return sorted
  }

  #grow(): void {
    const numbers = new Int32Array(2 * this.#numbers.length)
    numbers.set(this.#numbers)
    this.#numbers = numbers
    this.#ids = Buffer.concat([this.#ids, Buffer.alloc(this.#ids.length)])
  }
}
