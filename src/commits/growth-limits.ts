import type { Transaction } from '../database/index.ts'
import type { Fault } from '../errors.ts'

/** How many files and folders there may be; undefined for no limit. */
export interface EntryLimits {
  /** In a library. */
  readonly library?: number | undefined
  /** Added, or changed by a client's push, in one commit. */
  readonly commit?: number | undefined
}

/** An owner whose bytes are limited. */
export interface LimitedOwner {
  readonly ownerKey: number
  /** Bytes. */
  readonly limit: number
}

/** Decides whether an owner may store what a commit adds. Quotas are known to `access`, which is above this module. */
export interface GrowthGuard {
  /** The owner of a library, if their bytes are limited. */
  limitedOwner(tx: Transaction, libraryKey: number): Promise<LimitedOwner | undefined>
  /** In the transaction of a commit, after its head has moved. Throws quota-exceeded. */
  check(tx: Transaction, owner: LimitedOwner): Promise<void>
}

/** How many entries a tree has before and after an edit. */
export interface EntryGrowth {
  readonly entriesBefore: number
  readonly entries: number
}

/** What commits may add to libraries: checked where heads move, so that no way to change a library can miss it. */
export class GrowthLimits {
  readonly limits: EntryLimits
  guard: GrowthGuard | undefined

  constructor(limits: EntryLimits = {}) {
    this.limits = limits
  }

  /** Why an edit is refused, if it is. One that adds nothing never is: a library over its limit can be made smaller. */
  refusalOf({ entriesBefore, entries }: EntryGrowth): Fault | undefined {
    const { library, commit } = this.limits
    if (entries <= entriesBefore) return undefined
    if (library !== undefined && entries > library) return tooManyEntries(library, 'library')
    if (commit !== undefined && entries - entriesBefore > commit) return tooManyEntries(commit, 'commit')
    return undefined
  }

  /** In a transaction that gave somebody a library with bytes in it. Throws quota-exceeded. */
  async refuseOverQuota(tx: Transaction, { key, size }: { key: number; size: number }): Promise<void> {
    const limited = size > 0 ? await this.guard?.limitedOwner(tx, key) : undefined
    if (limited !== undefined) await this.guard?.check(tx, limited)
  }
}

export function tooManyEntries(limit: number, of: 'library' | 'commit'): Fault {
  return { code: 'too-many-entries', limit, of }
}
