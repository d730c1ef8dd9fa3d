import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

const MAX_SECRETS = 10_000

/**
 * Secrets that were verified against their stored hash. A WebDAV client sends its password with every request, and a hash
 * costs 50 ms. An entry is found by the stored hash, which the caller reads for each request, so a changed or removed
 * password ends it at once. Only a keyed digest of the secret is in memory, under a key of this process.
 */
export class VerifiedSecrets {
  readonly #key = randomBytes(32).toString('hex')
  readonly #digests = new Map<string, Buffer>()

  /** Whether the secret was verified against this hash before. */
  has(stored: string, secret: string): boolean {
    const known = this.#digests.get(stored)
    return known !== undefined && timingSafeEqual(known, this.#digestOf(secret))
  }

  /** Evicts the oldest entry when there are too many. */
  add(stored: string, secret: string): void {
    const [oldest] = this.#digests.keys()
    if (this.#digests.size >= MAX_SECRETS && oldest !== undefined) this.#digests.delete(oldest)
    this.#digests.set(stored, this.#digestOf(secret))
  }

  #digestOf(secret: string): Buffer {
    // A key prefix is enough: digests never leave the process, so length extension is impossible. An HMAC takes ten times as long.
    return hash('sha256', this.#key + secret, 'buffer')
  }
}
