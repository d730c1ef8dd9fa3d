import type { Database } from '../database/index.ts'
import type { Account } from './account.ts'
import { findAccountByKey } from './account-store.ts'
import { isLiveApiToken } from './api-token-store.ts'
import type { CredentialOrigin } from './credential-origin.ts'
import type { ScopedTokens } from './scoped-tokens.ts'

/** Checks whether the origin of a credential is still valid. Nothing is cached. */
export class CredentialOrigins {
  readonly #db: Database
  readonly #scopedTokens: ScopedTokens

  constructor(db: Database, scopedTokens: ScopedTokens) {
    this.#db = db
    this.#scopedTokens = scopedTokens
  }

  /**
   * The account a credential acts for, within the current scope of its scoped token. Undefined once any part
   * of its origin is invalid.
   */
  async findActor(origin: CredentialOrigin): Promise<Account | undefined> {
    const { apiTokenKey } = origin
    const [account, isLive] = await Promise.all([
      this.#findAccount(origin),
      apiTokenKey === undefined || isLiveApiToken(this.#db, apiTokenKey),
    ])
    if (account === undefined || !isLive) return undefined
    if (origin.epoch !== undefined && origin.epoch !== account.epoch) return undefined
    return apiTokenKey === undefined ? account : { ...account, apiTokenKey }
  }

  async #findAccount({ accountKey, scopedTokenKey }: CredentialOrigin): Promise<Account | undefined> {
    if (scopedTokenKey !== undefined) return this.#scopedTokens.findActor(scopedTokenKey)
    const account = await findAccountByKey(this.#db, accountKey)
    return account?.active ? account : undefined
  }
}
