import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { type HashClient, HashQueue } from './hash-queue.ts'
import { deriveImported, type ImportedHash, parseImportedHash } from './imported-hashes.ts'

/** Cost parameters of one hash. Memory is in KiB. */
export interface PasswordCost {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

/** About 50 ms and 19 MiB on a small machine. */
export const defaultPasswordCost: PasswordCost = { memory: 19_456, passes: 2, parallelism: 1 }

const saltBytes = 16
const tagBytes = 32

/** Concurrent hashes, of libuv's four threads. The others stay free for files and name lookups. */
const SLOTS = 2

/** Hashes and verifies passwords with argon2id on the thread pool, in the order of a `HashQueue`. */
export class Passwords {
  readonly #cost: PasswordCost
  readonly #queue: HashQueue
  // A dummy hash that matches no password: its tag is random.
  readonly #nobody: Encoded

  constructor(options: { cost?: PasswordCost; queue?: HashQueue } = {}) {
    this.#cost = options.cost ?? defaultPasswordCost
    this.#queue = options.queue ?? new HashQueue({ slots: SLOTS })
    this.#nobody = { cost: this.#cost, salt: randomBytes(saltBytes), tag: randomBytes(tagBytes) }
  }

  /** `$argon2id$v=19$m=…,t=…,p=…$salt$tag`, with a random salt. `source` is the source for the hash queue. */
  async hash(password: string, source: string): Promise<string> {
    const salt = randomBytes(saltBytes)
    const client = { source, subject: '' }
    const tag = await this.#derive(password, { cost: this.#cost, salt }, tagBytes, client)
    return encode({ cost: this.#cost, salt, tag })
  }

  /** Whether `encoded` is the hash of `password`, also one of another server. Costs the same if there is no hash. */
  async verify(password: string, encoded: string | undefined, client: HashClient): Promise<boolean> {
    const imported = encoded === undefined ? undefined : parseImportedHash(encoded)
    if (imported !== undefined) return this.#verifyImported(password, imported, client)
    const expected = (encoded && decode(encoded)) || this.#nobody
    const tag = await this.#derive(password, expected, expected.tag.length, client)
    return timingSafeEqual(tag, expected.tag)
  }

  /** Whether a password is so common that others guess it. `names` are those of the account, which are no secret either. */
  async isCommon(password: string, names: readonly string[]): Promise<boolean> {
    // Lazy import: only setting a password needs it.
    const { isCommonPassword } = await import('./common-passwords.ts')
    return isCommonPassword(password, names)
  }

  async #verifyImported(password: string, imported: ImportedHash, client: HashClient): Promise<boolean> {
    const tag = await this.#queue.run(client, () => deriveImported(password, imported))
    return timingSafeEqual(tag, imported.tag)
  }

  /** Whether the hash has other cost parameters than the current ones. */
  isOutdated(encoded: string): boolean {
    const cost = decode(encoded)?.cost
    return (
      cost?.memory !== this.#cost.memory ||
      cost.passes !== this.#cost.passes ||
      cost.parallelism !== this.#cost.parallelism
    )
  }

  #derive(
    password: string,
    { cost, salt }: Omit<Encoded, 'tag'>,
    tagLength: number,
    client: HashClient,
  ): Promise<Buffer> {
    // The same password may arrive composed or decomposed, depending on the client's system.
    const message = Buffer.from(password.normalize('NFC'))
    return this.#queue.run(
      client,
      () =>
        new Promise((resolve, reject) => {
          argon2('argon2id', { message, nonce: salt, tagLength, ...cost }, (error, tag) =>
            error ? reject(error) : resolve(tag),
          )
        }),
    )
  }
}

interface Encoded {
  readonly cost: PasswordCost
  readonly salt: Buffer
  readonly tag: Buffer
}

function encode({ cost, salt, tag }: Encoded): string {
  const { memory, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`
}

const encodedShape = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/-]+)\$([\w+/-]+)$/

function decode(encoded: string): Encoded | undefined {
  const found = encodedShape.exec(encoded)
  if (!found) return undefined
  const [, memory, passes, parallelism, salt = '', tag = ''] = found
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

/** Base64 without padding, as usual in encoded hashes. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
