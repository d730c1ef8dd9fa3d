import { VISITORS } from '../scheduling/index.ts'

/** The reservation of one archive, held until its file is removed. */
export interface SpaceHold extends Disposable {
  readonly bytes: number
  /** Changes the reserved bytes; false, without a change, if space is insufficient. */
  resize(bytes: number): boolean
}

/**
 * The disk space of archives. A requester gets at most half of it, and all link visitors together at most half, so that neither an account
 * nor links can occupy all of it.
 */
export class ArchiveSpace {
  /** Bytes; undefined for unlimited. */
  readonly #total: number | undefined
  readonly #usedBy = new Map<string, number>()
  #used = 0

  constructor(total: number | undefined) {
    this.#total = total
  }

  /** Maximum size of one archive; undefined for unlimited. */
  get largest(): number | undefined {
    return this.#total === undefined ? undefined : Math.floor(this.#total / 2)
  }

  /** Undefined if space is insufficient now. */
  reserve(requester: string, bytes: number): SpaceHold | undefined {
    if (!this.#fits(requester, bytes)) return undefined
    this.#add(requester, bytes)
    let held = bytes
    return {
      get bytes() {
        return held
      },
      resize: (next) => {
        if (next > held && !this.#fits(requester, next - held)) return false
        this.#add(requester, next - held)
        held = next
        return true
      },
      [Symbol.dispose]: () => {
        this.#add(requester, -held)
        held = 0
      },
    }
  }

  #fits(requester: string, bytes: number): boolean {
    if (this.#total === undefined) return true
    if (this.#used + bytes > this.#total) return false
    return accountsOf(requester).every((key) => (this.#usedBy.get(key) ?? 0) + bytes <= (this.largest ?? 0))
  }

  #add(requester: string, bytes: number): void {
    this.#used += bytes
    for (const key of accountsOf(requester)) {
      const used = (this.#usedBy.get(key) ?? 0) + bytes
      if (used === 0) this.#usedBy.delete(key)
      else this.#usedBy.set(key, used)
    }
  }
}

/** The accounts that a requester's bytes count for: itself, and for a visitor also all visitors. */
function accountsOf(requester: string): string[] {
  return requester.startsWith(`${VISITORS}:`) ? [requester, VISITORS] : [requester]
}
