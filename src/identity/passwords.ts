import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'

/** What one hash costs. Memory is in KiB. */
export interface PasswordCost {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

/** About 50 ms and 19 MiB on a small machine. */
export const defaultPasswordCost: PasswordCost = { memory: 19_456, passes: 2, parallelism: 1 }

const saltBytes = 16
const tagBytes = 32

/**
 * Hashes and checks passwords with argon2id on the thread pool. At most `atOnce` run at a time and
 * the rest wait in line, so that a storm of logins leaves threads for files and syncs.
 */
export class Passwords {
  readonly #cost: PasswordCost
  readonly #line: Line
  // No password has this tag: it is random and not the hash of anything.
  readonly #nobody: Encoded

  constructor(options: { cost?: PasswordCost; atOnce?: number } = {}) {
    this.#cost = options.cost ?? defaultPasswordCost
    this.#line = new Line(options.atOnce ?? 2)
    this.#nobody = { cost: this.#cost, salt: randomBytes(saltBytes), tag: randomBytes(tagBytes) }
  }

  /** `$argon2id$v=19$m=…,t=…,p=…$salt$tag`, with a salt of its own. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(saltBytes)
    const tag = await this.#derive(password, { cost: this.#cost, salt }, tagBytes)
    return encode({ cost: this.#cost, salt, tag })
  }

  /** Whether `password` was hashed into `encoded`. Costs as much when there is no hash to compare with. */
  async verify(password: string, encoded: string | undefined): Promise<boolean> {
    const expected = (encoded && decode(encoded)) || this.#nobody
    const tag = await this.#derive(password, expected, expected.tag.length)
    return timingSafeEqual(tag, expected.tag)
  }

  /** Whether the hash was made at another cost than is asked for today. */
  isOutdated(encoded: string): boolean {
    const cost = decode(encoded)?.cost
    return (
      cost?.memory !== this.#cost.memory ||
      cost.passes !== this.#cost.passes ||
      cost.parallelism !== this.#cost.parallelism
    )
  }

  #derive(password: string, { cost, salt }: Omit<Encoded, 'tag'>, tagLength: number): Promise<Buffer> {
    // The same password typed on different systems may arrive composed or decomposed.
    const message = Buffer.from(password.normalize('NFC'))
    return this.#line.run(
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

/** Base64 without padding, as encoded hashes are commonly written. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

/** Lets at most `atOnce` pieces of work run; the rest start in the order they came. */
class Line {
  readonly #atOnce: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      return await work()
    } finally {
      // Whoever is next takes over the place, so the count only falls when nobody waits.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }
}
