import type { TestContext } from 'node:test'
import { seededRandom, testSeed } from '../support/random.ts'
import { rounds } from '../support/tier.ts'

/** Random choices of one case. */
export class Chance {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  /** An integer from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  is(probability: number): boolean {
    return this.#random() < probability
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T
  }

  many<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make)
  }

  bytes(most: number): Buffer {
    return Buffer.from(this.many(most, () => this.below(256)))
  }

  /** The same bytes in segments of random lengths. */
  pieces(bytes: Buffer): Buffer[] {
    const pieces: Buffer[] = []
    for (let at = 0; at < bytes.length; ) {
      const length = 1 + this.below(this.one([1, 3, 20, 1000]))
      pieces.push(Buffer.from(bytes.subarray(at, at + length)))
      at += length
    }
    return pieces
  }

  /** The bytes with random errors: changed, omitted, duplicated, or some of `tokens` inserted. */
  mutate(bytes: Buffer, tokens: readonly string[]): Buffer {
    let mutated = bytes
    for (let count = this.below(4); count > 0; count -= 1) mutated = this.#mutateOnce(mutated, tokens)
    return mutated
  }

  #mutateOnce(bytes: Buffer, tokens: readonly string[]): Buffer {
    const at = this.below(bytes.length + 1)
    const to = Math.min(bytes.length, at + this.below(this.one([2, 8, 64])))
    const [before, some, after] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)]
    switch (this.below(5)) {
      case 0:
        return Buffer.concat([before, after])
      case 1:
        return Buffer.concat([before, some, some, after])
      case 2:
        return Buffer.concat([before, Buffer.from(this.one(tokens), 'latin1'), some, after])
      case 3:
        return Buffer.concat([before, Buffer.from([this.below(256)]), after])
      default:
        return Buffer.concat([after, some, before])
    }
  }
}

const SECONDS_GIVEN = process.env['CARREL_TEST_FUZZ_SECONDS']
/** How long each target runs. */
const SECONDS = Number(SECONDS_GIVEN ?? rounds(0.5, 2, 4))
/** A faster machine runs no case that another has never seen, unless it was asked to search. */
const MAX_CASES = SECONDS_GIVEN === undefined ? rounds(2000, 5000, 10_000) : Number.POSITIVE_INFINITY

/**
 * Runs one case after another until the time is up. A case depends only on its seed: a failing seed is printed, and
 * `CARREL_TEST_SEED` starts with it.
 */
export async function fuzz(t: TestContext, attempt: (chance: Chance) => unknown): Promise<void> {
  const first = testSeed()
  t.diagnostic(`seed ${first} (repeat with CARREL_TEST_SEED=${first})`)
  const until = performance.now() + SECONDS * 1000
  let cases = 0
  for (; cases === 0 || (cases < MAX_CASES && performance.now() < until); cases += 1) {
    const seed = (first + cases) >>> 0
    try {
      await attempt(new Chance(seed))
    } catch (error) {
      throw new Error(`fails with CARREL_TEST_SEED=${seed}`, { cause: error })
    }
  }
  t.diagnostic(`${cases} cases`)
}

/** The result of `run`, or the message of its error, which must be one of `declared`. */
export async function outcome<T>(
  run: () => T | Promise<T>,
  declared: readonly (new (...args: never[]) => Error)[],
): Promise<{ value: T } | { refused: string }> {
  try {
    return { value: await run() }
  } catch (error) {
    if (!declared.some((kind) => error instanceof kind)) throw error
    return { refused: error instanceof Error ? error.message : '' }
  }
}
