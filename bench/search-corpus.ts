import { seededRandom } from '../test/support/random.ts'

const SYLLABLES =
  'ba ko ri tan mel dor fi gu sha len por ti ven xa que zo mi nar el ost ra li su ke mo da ne pu ro te'.split(
    ' ',
  )
const WORDS = 30_000
// Of files without extractable text, which are found by name only.
const EXTENSIONS = ['jpg', 'png', 'gif', 'mp4', 'mov', 'mp3', 'zip', 'bin']

/** Words with a realistic frequency distribution. Deterministic for a seed. */
export class Corpus {
  readonly #random: () => number
  readonly #words: readonly string[]

  constructor(seed: number) {
    this.#random = seededRandom(seed)
    const made = new Set<string>()
    while (made.size < WORDS) {
      const length = 2 + Math.floor(this.#random() * 3)
      made.add(Array.from({ length }, () => this.pick(SYLLABLES)).join(''))
    }
    this.#words = [...made]
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T
  }

  /** A random word, weighted by frequency. */
  word(): string {
    // Approximately Zipf's law: the logarithm of the rank is uniformly distributed.
    return this.#words[Math.floor(WORDS ** this.#random()) - 1] ?? ''
  }

  /** A plausible search word: neither in every text nor in none. */
  soughtWord(): string {
    return this.#words[50 + Math.floor(this.#random() * (WORDS / 3))] ?? ''
  }

  /** A file name of two or three words and a number. */
  name(n: number, extension = this.pick(EXTENSIONS)): string {
    const words = this.#random() < 0.5 ? [this.word(), this.word()] : [this.word(), this.word(), this.word()]
    return `${words.join(this.pick([' ', '-', '_']))} ${n}.${extension}`
  }

  text(words: number): string {
    return Array.from({ length: words }, () => this.word()).join(' ')
  }

  number(below: number): number {
    return Math.floor(this.#random() * below)
  }
}
