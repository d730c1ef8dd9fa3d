import { createHash, type Hash } from 'node:crypto'
import { uploadError } from './upload-wire.ts'

const algorithms: Readonly<Record<string, string>> = { 'sha-256': 'sha256', 'sha-512': 'sha512' }

/** A digest from a request header (RFC 9530), and the hash of the received bytes. */
export class AnnouncedDigest {
  readonly #hashes: { readonly hash: Hash; readonly expected: Buffer }[]

  private constructor(hashes: { hash: Hash; expected: Buffer }[]) {
    this.#hashes = hashes
  }

  /** Undefined without a known algorithm: "a recipient MAY ignore any or all digests". */
  static read(header: string | string[] | undefined): AnnouncedDigest | undefined {
    if (typeof header !== 'string') return undefined
    const hashes: { hash: Hash; expected: Buffer }[] = []
    for (const member of header.split(',')) {
      const [, name = '', value = ''] = /^\s*([a-z0-9*._-]+)=:([a-z0-9+/]*={0,2}):\s*$/i.exec(member) ?? []
      if (name === '') return undefined
      const algorithm = Object.hasOwn(algorithms, name.toLowerCase()) && algorithms[name.toLowerCase()]
      if (algorithm) hashes.push({ hash: createHash(algorithm), expected: Buffer.from(value, 'base64') })
    }
    return hashes.length === 0 ? undefined : new AnnouncedDigest(hashes)
  }

  update(bytes: Buffer): void {
    for (const { hash } of this.#hashes) hash.update(bytes)
  }

  /** Called once, after the last byte. Throws a refusal on a mismatch. */
  check(): void {
    for (const { hash, expected } of this.#hashes) {
      if (!hash.digest().equals(expected)) throw uploadError(400, 'Digest mismatch.')
    }
  }
}
