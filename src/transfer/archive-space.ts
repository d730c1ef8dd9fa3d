import { VISITORS } from '../scheduling/index.ts'

/** Bytes one archive holds in the space, from its reservation to the removal of its file. */
export interface SpaceHold extends Disposable {
  readonly bytes: number
  /** Holds as many bytes from now on; false, and no change, if there is no room. */
  resize(bytes: number): boolean
}

/**
 * The disk space of archives. One requester gets half of it, and all visitors of links together half, so that neither an account
 * nor somebody else's links can take all of it.
 */
export class ArchiveSpace {
  /** Bytes; undefined for no bound. */
  readonly #total: number | undefined
  readonly #usedBy = new Map<string, number>()
  #used = 0

  constructor(total: number | undefined) {
    this.#total = total
  }

  /** The most one archive may ever hold; undefined for no bound. */
  get largest(): number | undefined {
    return this.#total === undefined ? undefined : Math.floor(this.#total / 2)
  }

  /** Undefined if there is no room now. */
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

/** What a requester's bytes are counted under: itself, and for a visitor all of them. */
function accountsOf(requester: string): string[] {
  return requester.startsWith(`${VISITORS}:`) ? [requester, VISITORS] : [requester]
}
