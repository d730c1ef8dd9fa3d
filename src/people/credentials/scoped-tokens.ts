import { randomBytes } from 'node:crypto'
import { fail, refuseAtLimit } from '../../base/errors.ts'
import { type Database, type Transaction, writeIfSpace } from '../../platform/database/index.ts'
import { Sealing, type ServerSecret } from '../../platform/secret/index.ts'
import { type Account, accountRows, type Scope } from '../accounts/index.ts'
import { type Audit, type AuditActor, accountAction, libraryAction } from '../audit/index.ts'
import { lockLiveApiToken } from './api-token-store.ts'
import type { Authentication } from './api-tokens.ts'
import type { CredentialNotice } from './credential-notice.ts'
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
  /** The only library or sub-library it is for; undefined for all. */
  readonly library?: (TokenLibrary & { readonly sub?: { readonly key: number } | undefined }) | undefined
  /** Unix seconds; undefined for never. */
  readonly expiresAt?: number | undefined
}

/** The library of a token. */
interface TokenLibrary {
  readonly key: number
  readonly id: string
  readonly name: string
}

interface ScopedTokensOptions {
  readonly db: Database
  readonly secret: ServerSecret
  /** Unix seconds. */
  readonly now: () => number
  readonly relations: LibraryRelations
  readonly audit: Audit
  readonly onAdded: CredentialNotice
}

/** The permissions of tokens by the names that clients and the audit log know. */
export const tokenPermissions = {
  read: 'r',
  write: 'rw',
  upload: 'upload',
} as const satisfies Record<Scope['access'], string>

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
  readonly #audit: Audit
  readonly #onAdded: CredentialNotice

  constructor({ db, secret, now, relations, audit, onAdded }: ScopedTokensOptions) {
    this.#audit = audit
    this.#onAdded = onAdded
    this.#queries = scopedTokenQueries(relations)
    this.#db = db
    this.#now = now
    this.#sealing = new Sealing(secret, 'library tokens')
  }

  /** A new personal token. It cannot be read again. Throws account-not-found, limit-reached. */
  issuePersonal(
    account: Account,
    options: PersonalTokenOptions,
    by: AuditActor,
  ): Promise<{ token: string; key: number }> {
    return this.#db.write((tx) => this.issuePersonalIn(tx, account, options, by))
  }

  /** As issuePersonal, in a transaction of the caller; `via` a device, for a sign-in by a code. */
  async issuePersonalIn(
    tx: Transaction,
    account: Account,
    { name, access, library, expiresAt }: PersonalTokenOptions,
    by: AuditActor,
    via?: 'device',
  ): Promise<{ token: string; key: number }> {
    const token = newToken()
    if (!(await accountRows.lockActive(tx, account)))
      fail({ code: 'account-not-found', email: account.email })
    await this.checkPersonalCount(tx, account)
    const detail = { token: name, permission: tokenPermissions[access], repo_id: library?.id, via }
    await this.#audit.record(tx, by, accountAction('api-token-made', account.email, detail))
    await this.#onAdded(tx, account, { kind: via ?? 'token', name, library, address: by.address })
    const key = await insertScopedToken(tx, {
      name,
      access,
      kind: 'personal',
      hash: hashOf(token),
      accountKey: account.key,
      epoch: account.epoch,
      apiTokenKey: undefined,
      libraryKey: library?.key,
      subKey: library?.sub?.key,
      expiresAt,
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
  async revokePersonal(account: Account, key: number, by: AuditActor): Promise<void> {
    await this.#db.write(async (tx) => {
      const name = await deletePersonalToken(tx, account.key, key)
      if (name === undefined) fail({ code: 'token-not-found' })
      await this.#audit.record(tx, by, accountAction('api-token-revoked', account.email, { token: key }))
    })
  }

  /**
   * A token for an app. It belongs to the library if it `outlives` the session of the caller, and otherwise ends with that. Throws
   * app-token-exists; permission-denied if the session has ended meanwhile.
   */
  async issueForLibrary(
    library: TokenLibrary,
    madeBy: Account,
    { appName, access, outlives }: { appName: string; access: 'read' | 'write'; outlives: boolean },
    by: AuditActor,
  ): Promise<LibraryToken> {
    const token = newToken()
    const apiTokenKey = outlives ? undefined : (madeBy.apiTokenKey ?? fail({ code: 'permission-denied' }))
    await this.#db.write(async (tx) => {
      // Locked, so that a concurrent wipe of the device waits and finds the token.
      if (apiTokenKey !== undefined && !(await lockLiveApiToken(tx, apiTokenKey))) {
        fail({ code: 'permission-denied' })
      }
      await refuseAtLimit('library-tokens', (most) => countLibraryTokens(tx, library.key, most))
      const key = await insertScopedToken(tx, {
        kind: 'library',
        hash: hashOf(token),
        accountKey: madeBy.key,
        epoch: madeBy.epoch,
        apiTokenKey,
        libraryKey: library.key,
        subKey: undefined,
        name: appName,
        access,
        sealed: this.#sealing.seal(token),
        createdAt: this.#now(),
        expiresAt: undefined,
      })
      if (key === undefined) fail({ code: 'app-token-exists', appName })
      const detail = { app: appName, permission: tokenPermissions[access], session: apiTokenKey }
      await this.#audit.record(tx, by, libraryAction('api-token-made', library, detail))
      if (!outlives) return
      await this.#onAdded(tx, madeBy, { kind: 'library', name: appName, library, address: by.address })
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
    library: TokenLibrary,
    { appName, access }: { appName: string; access: 'read' | 'write' },
    caller: Parameters<ScopedTokens['listForLibrary']>[1],
    by: AuditActor,
  ): Promise<LibraryToken> {
    await this.#db.write(async (tx) => {
      const before = (await listLibraryTokens(tx, library.key)).find(({ name }) => name === appName)
      const changed = await setLibraryTokenAccess(tx, library.key, appName, access)
      if (!changed) fail({ code: 'token-not-found' })
      if (before?.access === access) return
      const detail = { app: appName, permission: tokenPermissions[access] }
      await this.#audit.record(tx, by, libraryAction('api-token-made', library, detail))
    })
    const all = await this.listForLibrary(library.key, caller)
    return all.find((token) => token.appName === appName) ?? fail({ code: 'token-not-found' })
  }

  /** Throws token-not-found. */
  async revokeForLibrary(library: TokenLibrary, appName: string, by: AuditActor): Promise<void> {
    await this.#db.write(async (tx) => {
      if (!(await deleteLibraryToken(tx, library.key, appName))) fail({ code: 'token-not-found' })
      await this.#audit.record(tx, by, libraryAction('api-token-revoked', library, { app: appName }))
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
