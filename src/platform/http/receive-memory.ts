/** Budget of bytes received and not read yet, of all connections: incomplete heads, pipelined requests, bodies. */
export class ReceiveMemory {
  static readonly #defaultScarce = 64 * 2 ** 20
  /** Above it, a connection with unread bytes is refused. */
  readonly #limit: number
  #used = 0

  constructor(limit = 2 * ReceiveMemory.#defaultScarce) {
    this.#limit = limit
  }

  get used(): number {
    return this.#used
  }

  /** Whether a connection may be read only while a reader waits for its bytes. */
  get isScarce(): boolean {
    return this.#used > Math.min(ReceiveMemory.#defaultScarce, this.#limit / 2)
  }

  get isFull(): boolean {
    return this.#used > this.#limit
  }

  /** Adds to the bytes in use; a negative number frees them. */
  change(bytes: number): void {
    this.#used += bytes
  }
}
