import { type Fault, fail } from '../../base/errors.ts'
import type { Transaction } from '../../platform/database/index.ts'

/** An upload creates the folders of one path, of at most 4,096 characters. */
const MAX_NEW_FOLDERS = 4096

/** Maximum numbers of files and folders; undefined for no limit. */
export interface EntryLimits {
  /** Per library. */
  readonly library?: number | undefined
  /** Added, or changed by a push, per commit. */
  readonly commit?: number | undefined
}

/** An owner whose bytes are limited. */
interface LimitedOwner {
  readonly ownerKey: number
  /** Bytes. */
  readonly limit: number
}

/** What a commit adds to. */
interface Growth {
  readonly bytes: boolean
  /** Files and folders. */
  readonly entries: boolean
}

/** Decides whether an owner may store what a commit adds. Quotas are known to `access`, which is above this module. */
export interface GrowthGuard {
  /** The owner of a library, if their bytes are limited. */
  limitedOwner(tx: Transaction, libraryKey: number): Promise<LimitedOwner | undefined>
  /** SQL expression for the quota of an account, given the column with its key. Null if there is none. */
  quotaOf(owner: string): string
  /** The bytes that an owner with this quota may store; undefined for no limit. */
  limitOf(quota: number): number | undefined
  /** In the transaction of a commit, after its head has moved: whether the bytes, and the files and folders, are not too many. Throws quota-exceeded. */
  check(tx: Transaction, owner: LimitedOwner, grown: Growth): Promise<void>
}

/** How many entries a tree has before and after an edit. */
interface EntryGrowth {
  readonly entriesBefore: number
  readonly entries: number
  /** Bytes of all files. */
  readonly sizeBefore?: number
  readonly size?: number
}

/**
 * Limits on what commits add to libraries. Checked where heads move, so that every way to change a library is
 * covered.
 */
export class GrowthLimits {
  readonly limits: EntryLimits
  guard: GrowthGuard | undefined
  /** The fault while the disk has space only for what frees some. */
  diskFault: () => Fault | undefined = () => undefined

  constructor(limits: EntryLimits = {}) {
    this.limits = limits
  }

  /**
   * The fault that rejects an edit, if any. An edit that adds nothing is never rejected, so a library over
   * its limit can shrink.
   */
  refusalOf({ entriesBefore, entries, sizeBefore = 0, size = 0 }: EntryGrowth): Fault | undefined {
    const { library, commit } = this.limits
    const fault = entries > entriesBefore || size > sizeBefore ? this.diskFault() : undefined
    if (fault !== undefined) return fault
    if (entries <= entriesBefore) return undefined
    if (library !== undefined && entries > library) return tooManyEntries(library, 'library')
    if (commit !== undefined && entries - entriesBefore > commit) return tooManyEntries(commit, 'commit')
    return undefined
  }

  /** Whether `refusalOf` could reject an edit that adds as many files, and folders for them. */
  mayRefuse(
    { fileCount, dirCount }: { fileCount: number; dirCount?: number | undefined },
    files: number,
  ): boolean {
    const { library = Infinity, commit = Infinity } = this.limits
    // A path has at most this many folders.
    const more = files + MAX_NEW_FOLDERS
    return (
      this.diskFault() !== undefined || more > commit || fileCount + (dirCount ?? Infinity) + more > library
    )
  }

  /** For temporary files. Throws disk-full. */
  refuseOnFullDisk(): void {
    const fault = this.diskFault()
    if (fault !== undefined) fail(fault)
  }

  /** In a transaction that transferred or restored a library with content. Throws quota-exceeded. */
  async refuseOverQuota(tx: Transaction, { key, size }: { key: number; size: number }): Promise<void> {
    const limited = size > 0 ? await this.guard?.limitedOwner(tx, key) : undefined
    if (limited !== undefined) await this.guard?.check(tx, limited, { bytes: true, entries: true })
  }
}

export function tooManyEntries(limit: number, of: 'library' | 'commit'): Fault {
  return { code: 'too-many-entries', limit, of }
}
