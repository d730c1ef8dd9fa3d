import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { type Account, accountRows } from '../accounts/index.ts'
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
  findActor(origin: CredentialOrigin): MaybePromise<Account | undefined> {
    const { apiTokenKey } = origin
    const account = this.#findAccount(origin)
    const isLive = apiTokenKey === undefined || isLiveApiToken(this.#db, apiTokenKey)
    if (!(account instanceof Promise || isLive instanceof Promise)) return actorOf(origin, account, isLive)
    return Promise.all([account, isLive]).then((found) => actorOf(origin, ...found))
  }

  #findAccount({ accountKey, scopedTokenKey }: CredentialOrigin): MaybePromise<Account | undefined> {
    if (scopedTokenKey !== undefined) return this.#scopedTokens.findActor(scopedTokenKey)
    return whenReady(accountRows.findByKey(this.#db, accountKey), (account) =>
      account?.active ? account : undefined,
    )
  }
}

function actorOf(
  { apiTokenKey, epoch }: CredentialOrigin,
  account: Account | undefined,
  isLive: boolean,
): Account | undefined {
  if (account === undefined || !isLive) return undefined
  if (epoch !== undefined && epoch !== account.epoch) return undefined
  return apiTokenKey === undefined ? account : { ...account, apiTokenKey }
}
