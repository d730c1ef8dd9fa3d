import { shown, sizeText } from './terminal.ts'

const REDRAW_MS = 100
const BAR = 24
/** The rate is that of the last seconds, so that it follows the connection. */
const WINDOW_MS = 5000

interface Sample {
  readonly at: number
  readonly bytes: number
}

/** A progress bar on standard error: share done, rate and time left. Draws nothing where standard error is not a terminal. */
export class Progress implements Disposable {
  readonly #isShown: boolean
  readonly #samples: Sample[] = []
  #total = 0
  #done = 0
  #files = 0
  #drawnAt = 0
  #name = ''

  constructor({ quiet }: { quiet: boolean }) {
    this.#isShown = !quiet && process.stderr.isTTY
  }

  /** More work was found. */
  expect(bytes: number): void {
    this.#total += bytes
  }

  /** Bytes of `name` were transferred. */
  add(bytes: number, name: string): void {
    this.#done += bytes
    this.#name = name
    if (this.#isShown && performance.now() - this.#drawnAt > REDRAW_MS) this.#draw()
  }

  fileDone(): void {
    this.#files += 1
  }

  #draw(): void {
    const now = performance.now()
    this.#drawnAt = now
    this.#samples.push({ at: now, bytes: this.#done })
    while ((this.#samples[1]?.at ?? now) < now - WINDOW_MS) this.#samples.shift()
    const line = progressLine({
      done: this.#done,
      total: this.#total,
      files: this.#files,
      rate: rateOf(this.#samples),
      name: this.#name,
      width: process.stderr.columns ?? 80,
    })
    process.stderr.write(`\r\u{1b}[K${line}`)
  }

  [Symbol.dispose](): void {
    if (this.#isShown && this.#drawnAt > 0) process.stderr.write('\r\u{1b}[K')
  }
}

/** Bytes per second between the first and the last sample. */
function rateOf(samples: readonly Sample[]): number {
  const [first] = samples
  const last = samples.at(-1)
  if (first === undefined || last === undefined || last.at === first.at) return 0
  return ((last.bytes - first.bytes) * 1000) / (last.at - first.at)
}

/** One line of at most `width` characters. */
export function progressLine(state: {
  done: number
  total: number
  files: number
  rate: number
  name: string
  width: number
}): string {
  const { done, total, files, rate, name, width } = state
  const share = total === 0 ? 0 : Math.min(1, done / total)
  const filled = Math.round(share * BAR)
  const bar = `[${'#'.repeat(filled)}${' '.repeat(BAR - filled)}]`
  const percent = `${Math.floor(share * 100)}`.padStart(3)
  const eta = rate > 0 ? durationText((total - done) / rate) : '--:--'
  const text = `${bar} ${percent} %  ${sizeText(rate)}/s  ETA ${eta}  ${files} files  ${shown(name)}`
  return text.slice(0, Math.max(0, width - 1))
}

function durationText(seconds: number): string {
  const whole = Math.min(Math.max(0, Math.round(seconds)), 359_999)
  const two = (value: number) => String(value).padStart(2, '0')
  const hours = Math.floor(whole / 3600)
  const rest = `${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`
  return hours === 0 ? rest : `${hours}:${rest}`
}
