import { createHash, type Hash } from 'node:crypto'
import type { FileChecksums } from '../../libraries/attributes/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { davError } from './responses.ts'

const ALGORITHMS = ['sha1', 'md5', 'sha256']

/** The checksums of a file that the client sent with it, in the header of ownCloud, and the hashes of the received bytes. */
export class SentChecksums {
  /** By algorithm, with the values that were sent. */
  readonly #expected: ReadonlyMap<string, string>
  readonly #hashes: ReadonlyMap<string, Hash>

  private constructor(expected: ReadonlyMap<string, string>) {
    this.#expected = expected
    // SHA-1 and MD5 are kept, whichever was sent: clients compare the one that both sides have.
    const computed = new Set(['sha1', 'md5', ...expected.keys()])
    this.#hashes = new Map(Array.from(computed, (algorithm) => [algorithm, createHash(algorithm)]))
  }

  /** `OC-Checksum: SHA1:… MD5:…`. Undefined without a known algorithm: others are ignored, as ownCloud does. */
  static of(request: HttpRequest): SentChecksums | undefined {
    const header = request.header('oc-checksum')?.trim().toLowerCase()
    if (header === undefined) return undefined
    const sent = header.split(/\s+/).map((one) => {
      const [name = '', ...value] = one.split(':')
      return [name, value.join(':')] as const
    })
    const known = sent.filter(([algorithm]) => ALGORITHMS.includes(algorithm))
    return known.length === 0 ? undefined : new SentChecksums(new Map(known))
  }

  readonly update = (bytes: Buffer): void => {
    for (const hash of this.#hashes.values()) hash.update(bytes)
  }

  /** Called once, after the last byte. The checksums of the content. Throws a refusal on a mismatch. */
  check(): Required<FileChecksums> {
    const digests = new Map(Array.from(this.#hashes, ([name, hash]) => [name, hash.digest('hex')]))
    for (const [algorithm, value] of this.#expected) {
      if (digests.get(algorithm) !== value) {
        throw davError(400, 'The content does not have the checksum that was sent with it.')
      }
    }
    return { sha1: digests.get('sha1') ?? '', md5: digests.get('md5') ?? '' }
  }
}
