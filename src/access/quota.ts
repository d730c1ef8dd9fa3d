import type { Database } from '../database/database.ts'
import type { Account } from '../identity/account.ts'
import type { Accounts } from '../identity/accounts.ts'
import type { LibraryInfo } from '../library/library-info.ts'
import { usageOf, usageOfMany } from '../library/library-store.ts'

/** What the owners of libraries may store, and do. Charged is the owner, whoever adds the bytes. */
export class Quotas {
  readonly #db: Database
  readonly #accounts: Accounts
  /** Bytes; 0 for no limit. */
  readonly #serverDefault: number

  constructor(db: Database, accounts: Accounts, serverDefault: number) {
    this.#db = db
    this.#accounts = accounts
    this.#serverDefault = serverDefault
  }

  /** Bytes the account may store; undefined for no limit. */
  limitOf(account: Account): number | undefined {
    const limit = account.quota > 0 ? account.quota : this.#serverDefault
    return limit > 0 ? limit : undefined
  }

  usageOf(account: Account): Promise<number> {
    return usageOf(this.#db, account.key)
  }

  /** Bytes in use by account key, for those of the accounts that own something. */
  usageOfMany(accounts: readonly Account[]): Promise<Map<number, number>> {
    const keys = accounts.map(({ key }) => key)
    return usageOfMany(this.#db, keys)
  }

  /** What the owner of a library may still add; undefined for no limit. */
  async roomLeft(library: LibraryInfo): Promise<{ left: number; limit: number } | undefined> {
    const owner = await this.#accounts.findByKey(library.ownerKey)
    const limit = owner && this.limitOf(owner)
    if (owner === undefined || limit === undefined) return undefined
    return { left: limit - (await this.usageOf(owner)), limit }
  }
}
