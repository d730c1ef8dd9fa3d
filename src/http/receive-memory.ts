/** Bytes of all connections that were received and not read yet: beginnings of heads, pipelined requests, bodies. */
export class ReceiveMemory {
  /** Above it, a connection is read only while somebody waits for its bytes. */
  static readonly #scarce = 64 * 2 ** 20
  /** Above it, a connection that has bytes nobody reads is refused. */
  readonly #most: number
  #held = 0

  constructor(most = 2 * ReceiveMemory.#scarce) {
    this.#most = most
  }

  get held(): number {
    return this.#held
  }

  get isScarce(): boolean {
    return this.#held > Math.min(ReceiveMemory.#scarce, this.#most / 2)
  }

  get isFull(): boolean {
    return this.#held > this.#most
  }

  /** More, or with a negative number fewer, bytes are held. */
  change(bytes: number): void {
    this.#held += bytes
  }
}
