import type { Cipheriv } from 'node:crypto'
import type { IncomingBlock, TakenBlock } from './incoming-block.ts'

/** Encrypts a block while it is received. The ciphertext is stored and hashed. */
export class EncryptingBlock {
  readonly #stored: IncomingBlock
  readonly #cipher: Cipheriv
  #size = 0

  constructor(stored: IncomingBlock, cipher: Cipheriv) {
    this.#stored = stored
    this.#cipher = cipher
  }

  /** Bytes of plaintext. */
  get size(): number {
    return this.#size
  }

  /** Returns a promise if the caller has to wait before the next write (backpressure). */
  write(piece: Buffer): Promise<void> | undefined {
    this.#size += piece.length
    const encrypted = this.#cipher.update(piece)
    return encrypted.length > 0 ? this.#stored.write(encrypted) : undefined
  }

  async finish(): Promise<TakenBlock> {
    await this.#stored.write(this.#cipher.final())
    const taken = await this.#stored.finish()
    return { ...taken, padding: taken.size - this.#size }
  }

  abort(): Promise<void> {
    return this.#stored.abort()
  }
}
