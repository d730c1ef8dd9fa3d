import { createHash, type Hash } from 'node:crypto'
import type { HttpRequest } from '../http/index.ts'
import { davError } from './responses.ts'

const algorithms: ReadonlyMap<string, string> = new Map([
  ['SHA1', 'sha1'],
  ['MD5', 'md5'],
  ['SHA256', 'sha256'],
])

/** The checksums of a file that the client sent with it, in the header of ownCloud, and the hashes of the received bytes. */
export class SentChecksums {
  readonly #hashes: readonly { readonly hash: Hash; readonly expected: string }[]

  private constructor(hashes: readonly { hash: Hash; expected: string }[]) {
    this.#hashes = hashes
  }

  /** `OC-Checksum: SHA1:… MD5:…`. Undefined without a known algorithm: others are ignored, as ownCloud does. */
  static of(request: HttpRequest): SentChecksums | undefined {
    const header = request.header('oc-checksum')?.trim()
    if (header === undefined) return undefined
    const hashes = header.split(/\s+/).flatMap((one) => {
      const [, name = '', expected = ''] = /^([^:]*):(.*)$/.exec(one) ?? []
      const algorithm = algorithms.get(name.toUpperCase())
      return algorithm === undefined ? [] : { hash: createHash(algorithm), expected: expected.toLowerCase() }
    })
    return hashes.length === 0 ? undefined : new SentChecksums(hashes)
  }

  readonly update = (bytes: Buffer): void => {
    for (const { hash } of this.#hashes) hash.update(bytes)
  }

  /** Called once, after the last byte. Throws a refusal on a mismatch. */
  check(): void {
    for (const { hash, expected } of this.#hashes) {
      if (hash.digest('hex') !== expected) {
        throw davError(400, 'The content does not have the checksum that was sent with it.')
      }
    }
  }
}
