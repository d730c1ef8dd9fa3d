import { randomBytes } from 'node:crypto'
import { fail, refuseAtLimit } from '../../base/errors.ts'
import { type Database, type Transaction, writeIfSpace } from '../../platform/database/index.ts'
import { Sealing, type ServerSecret } from '../../platform/secret/index.ts'
import { type Account, accountRows, type Scope, type TransactionHook } from '../accounts/index.ts'
import { lockLiveApiToken } from './api-token-store.ts'
import type { Authentication } from './api-tokens.ts'
import {
  countLibraryTokens,
  countPersonalTokens,
  deleteLibraryToken,
  deletePersonalToken,
  deleteScopedTokensBefore,
  findScopedAccount,
  findScopedAccountByKey,
  insertScopedToken,
  type LibraryRelations,
  listLibraryTokens,
  listPersonalTokens,
  listSealed,
  type PersonalToken,
  type ScopedAccount,
  type ScopedTokenQueries,
  scopedTokenQueries,
  setLibraryTokenAccess,
  setScopedTokenUse,
  setSealed,
} from './scoped-token-store.ts'
import { hashOf, hashOfToken } from './token-hash.ts'

const usedEverySeconds = 3600
const mostPersonalTokens = 100

interface PersonalTokenOptions {
  readonly name: string
  readonly access: Scope['access']
  /** The only library it is for; undefined for all. */
  readonly libraryKey?: number | undefined
  /** The sub-library, if it is for one. */
  readonly subKey?: number | undefined
  /** Unix seconds; undefined for never. */
  readonly expiresAt?: number | undefined
}

/** A library token as its owner sees it. */
export interface LibraryToken {
  readonly appName: string
  readonly access: Scope['access']
  readonly madeBy: string
  /** Undefined if it was created under another secret of the server, or if the caller may not see it. */
  readonly token: string | undefined
}

/**
 * API tokens with a restricted scope. Personal tokens are limited by operation, library and time. Library
 * tokens give an app access to one library under its own name. Both are 40 hex characters, stored as hashes,
 * and revoked at once.
 */
export class ScopedTokens {
  readonly #db: Database
  readonly #now: () => number
  readonly #sealing: Sealing
  readonly #queries: ScopedTokenQueries

  constructor(db: Database, secret: ServerSecret, now: () => number, relations: LibraryRelations) {
    this.#queries = scopedTokenQueries(relations)
    this.#db = db
    this.#now = now
    this.#sealing = new Sealing(secret, 'library tokens')
  }

  /** A new personal token. It cannot be read again. Throws account-not-found, limit-reached. */
  issuePersonal(
    account: Account,
    options: PersonalTokenOptions,
    also?: TransactionHook,
  ): Promise<{ token: string; key: number }> {
    return this.#db.write((tx) => this.issuePersonalIn(tx, account, options, also))
  }

  /** As issuePersonal, in a transaction of the caller. */
  async issuePersonalIn(
    tx: Transaction,
    account: Account,
    options: PersonalTokenOptions,
    also?: TransactionHook,
  ): Promise<{ token: string; key: number }> {
    const token = newToken()
    if (!(await accountRows.lockActive(tx, account)))
      fail({ code: 'account-not-found', email: account.email })
    await this.checkPersonalCount(tx, account)
    await also?.(tx)
    const key = await insertScopedToken(tx, {
      ...options,
      kind: 'personal',
      hash: hashOf(token),
      accountKey: account.key,
      epoch: account.epoch,
      apiTokenKey: undefined,
      libraryKey: options.libraryKey,
      subKey: options.subKey,
      expiresAt: options.expiresAt,
      sealed: undefined,
      createdAt: this.#now(),
    })
    if (key === undefined) throw new Error('a new token was there already')
    return { token, key }
  }

  /** Throws limit-reached if the account has as many personal tokens as it may have. */
  async checkPersonalCount(tx: Transaction, { key }: Account): Promise<void> {
    if ((await countPersonalTokens(tx, key)) < mostPersonalTokens) return
    fail({ code: 'limit-reached', what: 'personal-tokens', limit: mostPersonalTokens })
  }

  /** Newest first, without expired ones. */
  async listPersonal(account: Account): Promise<PersonalToken[]> {
    const all = await listPersonalTokens(this.#db, this.#queries, account.key)
    return all.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > this.#now())
  }

  /** Throws token-not-found. */
  async revokePersonal(account: Account, key: number, also?: TransactionHook): Promise<void> {
    await this.#db.write(async (tx) => {
      const name = await deletePersonalToken(tx, account.key, key)
      if (name === undefined) fail({ code: 'token-not-found' })
      await also?.(tx)
    })
  }

  /**
   * A token for an app. It belongs to the library if it `outlives` the session of the caller, and otherwise ends with that. Throws
   * app-token-exists; permission-denied if the session has ended meanwhile.
   */
  async issueForLibrary(
    libraryKey: number,
    madeBy: Account,
    { appName, access, outlives }: { appName: string; access: 'read' | 'write'; outlives: boolean },
    also?: TransactionHook,
  ): Promise<LibraryToken> {
    const token = newToken()
    const apiTokenKey = outlives ? undefined : (madeBy.apiTokenKey ?? fail({ code: 'permission-denied' }))
    await this.#db.write(async (tx) => {
      // Locked, so that a concurrent wipe of the device waits and finds the token.
      if (apiTokenKey !== undefined && !(await lockLiveApiToken(tx, apiTokenKey))) {
        fail({ code: 'permission-denied' })
      }
      await refuseAtLimit('library-tokens', (most) => countLibraryTokens(tx, libraryKey, most))
      const key = await insertScopedToken(tx, {
        kind: 'library',
        hash: hashOf(token),
        accountKey: madeBy.key,
        epoch: madeBy.epoch,
        apiTokenKey,
        libraryKey,
        subKey: undefined,
        name: appName,
        access,
        sealed: this.#sealing.seal(token),
        createdAt: this.#now(),
        expiresAt: undefined,
      })
      if (key === undefined) fail({ code: 'app-token-exists', appName })
      await also?.(tx)
    })
    return { appName, access, madeBy: madeBy.email, token }
  }

  /** Newest first. A caller that is not `confirmed` sees only those tokens that end with its own session, so that a stolen session gets no other. */
  async listForLibrary(
    libraryKey: number,
    caller: { readonly confirmed: boolean; readonly apiTokenKey?: number | undefined },
  ): Promise<LibraryToken[]> {
    const stored = await listLibraryTokens(this.#db, libraryKey)
    return stored.map(({ name, access, madeBy, sealed, apiTokenKey }) => ({
      appName: name,
      access,
      madeBy,
      token:
        caller.confirmed || (apiTokenKey !== undefined && apiTokenKey === caller.apiTokenKey)
          ? this.#sealing.open(sealed)
          : undefined,
    }))
  }

  /** Throws token-not-found. */
  async setLibraryAccess(
    libraryKey: number,
    appName: string,
    access: 'read' | 'write',
    caller: Parameters<ScopedTokens['listForLibrary']>[1],
    also?: TransactionHook,
  ): Promise<LibraryToken> {
    await this.#db.write(async (tx) => {
      const before = (await listLibraryTokens(tx, libraryKey)).find(({ name }) => name === appName)
      const changed = await setLibraryTokenAccess(tx, libraryKey, appName, access)
      if (!changed) fail({ code: 'token-not-found' })
      if (before?.access !== access) await also?.(tx)
    })
    const all = await this.listForLibrary(libraryKey, caller)
    return all.find((token) => token.appName === appName) ?? fail({ code: 'token-not-found' })
  }

  /** Throws token-not-found. */
  async revokeForLibrary(libraryKey: number, appName: string, also?: TransactionHook): Promise<void> {
    await this.#db.write(async (tx) => {
      if (!(await deleteLibraryToken(tx, libraryKey, appName))) fail({ code: 'token-not-found' })
      await also?.(tx)
    })
  }

  authenticatePersonal(token: string): Promise<Authentication> {
    return this.#authenticate('personal', token)
  }

  /** The account is the owner of the library, with the name of the app. */
  authenticateForLibrary(token: string): Promise<Authentication> {
    return this.#authenticate('library', token)
  }

  /**
   * The account a token acts for, within its scope; undefined once the token has ended or the account is
   * inactive.
   */
  async findActor(tokenKey: number): Promise<Account | undefined> {
    const found = await findScopedAccountByKey(this.#db, this.#queries, tokenKey, this.#now())
    return found !== undefined && !found.removed && found.account.active ? found.account : undefined
  }

  /** Maintenance. */
  deleteExpired(): Promise<number> {
    return this.#db.write((tx) => deleteScopedTokensBefore(tx, this.#now()), { durable: false })
  }

  async #authenticate(kind: 'personal' | 'library', token: string): Promise<Authentication> {
    const hash = hashOfToken(token)
    if (hash === undefined) return { reason: 'unknown' }
    const found = await findScopedAccount(this.#db, this.#queries, kind, hash, this.#now())
    if (!found) return { reason: 'unknown' }
    if (found.removed) return { reason: 'deleted' }
    if (!found.account.active) return { reason: 'inactive' }
    await this.#recordUse(found)
    return { ok: found.account }
  }

  async #recordUse({ account, lastUsedAt }: ScopedAccount): Promise<void> {
    const now = this.#now()
    if (lastUsedAt !== undefined && now - lastUsedAt < usedEverySeconds) return
    await writeIfSpace(this.#db, (tx) => setScopedTokenUse(tx, account.scope.tokenKey, now))
  }
}

function newToken(): string {
  return randomBytes(20).toString('hex')
}

/** Encrypts the tokens of all libraries under the current key of the secret. Returns how many. */
export async function resealLibraryTokens(db: Database, secret: ServerSecret): Promise<number> {
  const sealing = new Sealing(secret, 'library tokens')
  return db.write(async (tx) => {
    let count = 0
    for (const { key, sealed } of await listSealed(tx)) {
      const token = sealing.open(sealed)
      if (token === undefined) continue
      await setSealed(tx, key, sealing.seal(token))
      count++
    }
    return count
  })
}
