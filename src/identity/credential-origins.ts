import type { Database } from '../database/index.ts'
import type { Account } from './account.ts'
import { findAccountByKey } from './account-store.ts'
import { isLiveApiToken } from './api-token-store.ts'
import type { CredentialOrigin } from './credential-origin.ts'
import type { ScopedTokens } from './scoped-tokens.ts'

/** Answers whether what a credential was derived from still stands. Nothing is cached here. */
export class CredentialOrigins {
  readonly #db: Database
  readonly #scopedTokens: ScopedTokens

  constructor(db: Database, scopedTokens: ScopedTokens) {
    this.#db = db
    this.#scopedTokens = scopedTokens
  }

  /**
   * Who acts by a credential now, within the bounds of its scoped token as they are now. Undefined once anything it was
   * derived from has ended.
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
