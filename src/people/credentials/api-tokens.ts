import { createHmac, randomBytes } from 'node:crypto'
import { fail } from '../../base/errors.ts'
import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import { type Database, type Transaction, writeIfSpace } from '../../platform/database/index.ts'
import type { ServerSecret } from '../../platform/secret/index.ts'
import { type Account, accountRows } from '../accounts/index.ts'
import { type Audit, type AuditActor, type AuditedAction, accountAction } from '../audit/index.ts'
import {
  type ApiTokenHolder,
  type ApiTokenUse,
  deleteApiToken,
  deleteApiTokenOfDevice,
  deleteApiTokensDerivedFrom,
  deleteOrphanedApiTokens,
  findAccountByApiToken,
  findApiToken,
  findHolder,
  insertApiToken,
  type LinkedDevice,
  listApiTokenDevices,
  listApiTokenKeysOfDevice,
  markDeviceWiped,
  parkApiToken,
  replaceApiToken,
  type SignInClient,
  type StoredApiToken,
  selectLastUses,
  updateApiTokenLogin,
  updateApiTokenUse,
} from './api-token-store.ts'
import { cut, type Device, isDesktop, type Platform, platforms } from './device.ts'
import { countActiveAccounts, countDevices, type DeviceOfAccount, listAllDevices } from './device-store.ts'
import { deleteScopedTokensDerivedFrom } from './scoped-token-store.ts'
import { deleteIdleApiTokens, listLeastUsed, listSessions, type Session } from './session-store.ts'
import { deleteSyncTokensDerivedFrom, deleteSyncTokensOfDevice } from './sync-token-store.ts'
import { hashOf, hashOfToken } from './token-hash.ts'
import { tokenLimits } from './token-limits.ts'

/** The account of an API token, or why it has none. */
export type Authentication =
  | { readonly ok: Account }
  | { readonly reason: 'unknown' | 'deleted' | 'inactive' | 'wiped' }

/** Client versions sent with a request. */
interface ClientVersions {
  readonly clientVersion?: string | undefined
  readonly platformVersion?: string | undefined
}

const nobody: Pick<Device, 'deviceId'> & { platform: '' } = { platform: '', deviceId: '' }
const usedEverySeconds = 3600
const DAY = 86_400
const longestVersion = 64
const longestUserAgent = 255

/** The client of a sign-in; '' for unknown fields. */
export type SignedInBy = Partial<SignInClient>

/** A module with credentials derived from API tokens. */
export interface ApiTokenDependent {
  /**
   * A wipe of a device was requested. Its API tokens stay until it confirms. Every credential derived from
   * them ends now.
   */
  onDeviceWiped(tx: Transaction, apiTokenKeys: readonly number[]): Promise<void>
}

interface ApiTokensOptions {
  readonly db: Database
  readonly secret: ServerSecret
  /** Unix seconds. */
  readonly now: () => number
  /** Idle seconds after which a token expires; 0 for never. */
  readonly idleSeconds?: number
  readonly dependents: readonly ApiTokenDependent[]
  readonly audit: Audit
}

/**
 * API tokens: 40 hex characters that authenticate an account. A device gets the same one on every login,
 * until it is revoked or expires unused. Only hashes are stored. A token is derived again from a random nonce
 * in its row and the secret of the server, so neither of the two reveals it alone.
 */
export class ApiTokens {
  readonly #db: Database
  readonly #secret: ServerSecret
  readonly #now: () => number
  /** Idle seconds after which a token expires; 0 for never. */
  readonly #idleSeconds: number

  readonly #dependents: readonly ApiTokenDependent[]
  readonly #audit: Audit

  constructor(options: ApiTokensOptions) {
    this.#db = options.db
    this.#secret = options.secret
    this.#now = options.now
    this.#idleSeconds = options.idleSeconds ?? 0
    this.#dependents = options.dependents
    this.#audit = options.audit
  }

  /**
   * The token of the account, or of one of its devices. Throws account-not-found if the account may not have
   * one.
   */
  async issue(
    account: Account,
    by: AuditActor | undefined,
    device?: Device,
    client: SignedInBy = {},
  ): Promise<string> {
    return this.#db.write(async (tx) => {
      if (!(await accountRows.lockActive(tx, account)))
        fail({ code: 'account-not-found', email: account.email })
      const objectId = account.email
      await this.#audit.record(tx, by, { action: 'api-token-made', objectKind: 'account', objectId })
      return this.issueIn(tx, account, device, client)
    })
  }

  /**
   * As issue, if this transaction already checked that the account may have a token. Beyond 1,000 of an account, those that were not used for the longest time end.
   */
  async issueIn(
    tx: Transaction,
    account: Account,
    device?: Device,
    { address = '', userAgent = '', withPassword = false }: SignedInBy = {},
  ): Promise<string> {
    const { token, hash } = await this.#keptOrNew(tx, account, device)
    for (const idle of await listLeastUsed(tx, account.key, hash, tokenLimits.api - 1)) {
      await endSync(tx, account.key, idle)
      await deleteApiToken(tx, idle.key)
    }
    const by = { address, userAgent: cut(userAgent, longestUserAgent), withPassword }
    await updateApiTokenLogin(tx, hash, device ?? {}, by, this.#now())
    return token
  }

  /** Whether a login would return an existing token. */
  async has(account: Account, device?: Device): Promise<boolean> {
    const kept = await findApiToken(this.#db, account.key, device ?? nobody)
    return kept !== undefined && !kept.wiped && !this.#isIdle(kept.lastUsedAt)
  }

  authenticate(token: string, client: ClientVersions = {}): MaybePromise<Authentication> {
    const hash = hashOfToken(token)
    if (hash === undefined) return { reason: 'unknown' }
    return whenReady(findAccountByApiToken(this.#db, hash), (found) => this.#admit(hash, found, client))
  }

  #admit(
    hash: Uint8Array,
    found: ApiTokenHolder | undefined,
    client: ClientVersions,
  ): MaybePromise<Authentication> {
    if (!found) return { reason: 'unknown' }
    if (found.removed) return { reason: 'deleted' }
    if (!found.account.active) return { reason: 'inactive' }
    if (found.wiped) return { reason: 'wiped' }
    if (this.#isIdle(found.use.lastUsedAt)) return { reason: 'unknown' }
    const admitted = { ok: found.account }
    const use = this.#useAfter(found.use, client)
    if (use === found.use) return admitted
    return writeIfSpace(this.#db, (tx) => updateApiTokenUse(tx, hash, use)).then(() => admitted)
  }

  /** Whether it was a token of the account. Its tickets and sync tokens, and those of its device, end with it. */
  async revoke(account: Account, token: string, by: AuditActor): Promise<boolean> {
    return this.#db.write(async (tx) => {
      const holder = await findHolder(tx, 'hash', hashOf(token))
      return this.#signOut(tx, account, holder, by)
    })
  }

  /** As revoke, for a session of the account; false if there is none with that key. */
  async revokeSession(account: Account, key: number, by: AuditActor): Promise<boolean> {
    return this.#db.write(async (tx) => {
      const holder = await findHolder(tx, 'key', key)
      return this.#signOut(tx, account, holder, by, { session: key })
    })
  }

  async #signOut(
    tx: Transaction,
    account: Account,
    holder: Awaited<ReturnType<typeof findHolder>>,
    by: AuditActor,
    detail?: { readonly session: number },
  ): Promise<boolean> {
    if (holder?.accountKey !== account.key) return false
    await endSync(tx, account.key, holder)
    await this.#audit.record(tx, by, accountAction('logout', account.email, detail))
    return deleteApiToken(tx, holder.key)
  }

  /** Every session of the account, with or without a device, most recently used first. */
  async listSessions(account: Account): Promise<(Session & { readonly expiresAt: number | undefined })[]> {
    const sessions = await listSessions(this.#db, account.key)
    const idle = this.#idleSeconds
    return sessions.map((session) => ({
      ...session,
      expiresAt: idle === 0 ? undefined : session.lastUsedAt + idle,
    }))
  }

  /** Maintenance: deletes tokens that expired unused. */
  async deleteIdle(): Promise<number> {
    if (this.#idleSeconds === 0) return 0
    const before = this.#now() - this.#idleSeconds
    const work = async (tx: Transaction) => {
      const count = await deleteIdleApiTokens(tx, before)
      await deleteOrphanedApiTokens(tx)
      return count
    }
    return this.#db.write(work, { durable: false })
  }

  #isIdle(lastUsedAt = 0): boolean {
    return this.#idleSeconds > 0 && this.#now() - lastUsedAt > this.#idleSeconds
  }

  /** Unlinks a device and revokes its sync tokens; false if it was not linked. */
  async revokeDevice(
    account: Account,
    device: Pick<Device, 'platform' | 'deviceId'>,
    by: AuditActor,
  ): Promise<boolean> {
    return this.#db.write(async (tx) => {
      await endSync(tx, account.key, device)
      const existed = await deleteApiTokenOfDevice(tx, account.key, device)
      if (existed) await this.#audit.record(tx, by, deviceAction(account, device))
      return existed
    })
  }

  /**
   * Requests a wipe at the device's next request. Until then its token gives no access. False if it was not
   * linked.
   */
  async wipeDevice(
    account: Account,
    device: Pick<Device, 'platform' | 'deviceId'>,
    by: AuditActor,
  ): Promise<boolean> {
    return this.#db.write(async (tx) => {
      await endSync(tx, account.key, device)
      const keys = await listApiTokenKeysOfDevice(tx, account.key, device)
      await deleteSyncTokensDerivedFrom(tx, keys)
      await deleteScopedTokensDerivedFrom(tx, keys)
      for (const dependent of this.#dependents) await dependent.onDeviceWiped(tx, keys)
      const before = await findApiToken(tx, account.key, device)
      const existed = await markDeviceWiped(tx, account.key, device, this.#now())
      // After the row is locked: a session that is being derived from it is found.
      await deleteApiTokensDerivedFrom(tx, keys)
      if (existed && before?.wiped !== true) {
        await this.#audit.record(tx, by, deviceAction(account, device, { wipe: true }))
      }
      return existed
    })
  }

  /** The device confirms its wipe: deletes its token, if a wipe was requested. */
  async confirmWiped(token: string): Promise<'forgotten' | 'unknown' | 'not-to-be-wiped'> {
    return this.#db.write(async (tx) => {
      const holder = await findHolder(tx, 'hash', hashOf(token))
      if (holder === undefined) return 'unknown'
      if (!holder.wiped) return 'not-to-be-wiped'
      await deleteApiToken(tx, holder.key)
      return 'forgotten'
    })
  }

  /** The device of a token; undefined if it has none. */
  async deviceOf(token: string): Promise<Pick<Device, 'platform' | 'deviceId'> | undefined> {
    const holder = await findHolder(this.#db, 'hash', hashOf(token))
    if (holder === undefined || holder.platform === '') return undefined
    return { platform: holder.platform, deviceId: holder.deviceId }
  }

  /** Desktop devices first, each kind most recently used first. */
  async listDevices(account: Account): Promise<LinkedDevice[]> {
    return listApiTokenDevices(this.#db, account.key)
  }

  /** A page of the devices of all accounts, most recently used first, and whether there is another. */
  async listAllDevices(
    kind: Platform | 'desktop' | 'mobile' | undefined,
    { page, perPage }: { page: number; perPage: number },
  ): Promise<{ devices: DeviceOfAccount[]; more: boolean }> {
    const wanted = platforms.filter((platform) => isOfKind(platform, kind))
    const limits = { offset: (page - 1) * perPage, limit: perPage + 1 }
    const found = await listAllDevices(this.#db, wanted, limits)
    return { devices: found.slice(0, perPage), more: found.length > perPage }
  }

  /** The number of devices, and of those used within the last day. */
  countDevices(): Promise<{ all: number; recent: number }> {
    return countDevices(this.#db, this.#now() - DAY)
  }

  /** Number of accounts that used a token since a time. */
  countActive(since: number): Promise<number> {
    return countActiveAccounts(this.#db, since)
  }

  /** Time of the last use of a token, by account key, rounded to the hour. */
  async lastUses(accounts: readonly Account[]): Promise<Map<number, number>> {
    const keys = accounts.map(({ key }) => key)
    return selectLastUses(this.#db, keys)
  }

  async #keptOrNew(tx: Transaction, account: Account, device: Device | undefined) {
    const holder = device ?? nobody
    const fresh = this.#tokenFrom(randomBytes(16), account, holder)
    if (await insertApiToken(tx, account.key, holder, fresh, this.#now())) return fresh
    const kept = await findApiToken(tx, account.key, holder)
    if (!kept) throw new Error('an API token was neither kept nor new')
    const again = this.#derivedAgain(kept, account, holder)
    if (again !== undefined && !kept.wiped && !this.#isIdle(kept.lastUsedAt)) return again
    if (kept.nonce.length === 0 && holder.platform === '' && !kept.wiped && !this.#isIdle(kept.lastUsedAt)) {
      // Clients without a device share a token. Those that have the old one keep it.
      await parkApiToken(tx, kept.hash, randomBytes(16).toString('hex'))
      if (await insertApiToken(tx, account.key, holder, fresh, this.#now())) return fresh
    }
    // A new token is needed: its device signs in again after a wipe request, it expired unused, or the
    // server's secret has changed, so that the old token cannot be derived.
    await replaceApiToken(tx, kept, fresh)
    return fresh
  }

  /** Also if it was derived under a previous key of the secret. */
  #derivedAgain(kept: StoredApiToken, account: Account, holder: { platform: string; deviceId: string }) {
    if (kept.nonce.length === 0) return undefined
    return this.#secret
      .map((key) => this.#tokenFrom(Buffer.from(kept.nonce), account, holder, key))
      .find(({ hash }) => hash.equals(kept.hash))
  }

  #tokenFrom(
    nonce: Buffer,
    account: Account,
    { platform, deviceId }: { platform: string; deviceId: string },
    key = this.#secret[0],
  ) {
    const token = createHmac('sha256', key)
      .update('API token\0')
      .update(nonce)
      .update(JSON.stringify([account.key, platform, deviceId]))
      .digest('hex')
      .slice(0, 40)
    return { token, hash: hashOf(token), nonce } satisfies StoredApiToken & { token: string }
  }

  /** Returns `use` itself if nothing is worth a write: the same hour and the same client. */
  #useAfter(use: ApiTokenUse, client: ClientVersions): ApiTokenUse {
    const now = this.#now()
    const clientVersion = versionOf(use, client.clientVersion) ?? use.clientVersion
    const platformVersion = versionOf(use, client.platformVersion) ?? use.platformVersion
    const sameClient = clientVersion === use.clientVersion && platformVersion === use.platformVersion
    if (sameClient && now - use.lastUsedAt < usedEverySeconds) return use
    return { ...use, lastUsedAt: now, clientVersion, platformVersion }
  }
}

/** The current version of a device, if a valid one was sent. */
function versionOf(use: ApiTokenUse, sent: string | undefined): string | undefined {
  if (!use.hasDevice || !sent || sent.length > longestVersion) return undefined
  return /^[\x20-\x7e]+$/.test(sent) ? sent : undefined
}

/** The unlinking of a device, or the request to wipe it. */
function deviceAction(
  { email }: Account,
  { platform, deviceId }: Pick<Device, 'platform' | 'deviceId'>,
  wipe?: { readonly wipe: true },
): AuditedAction {
  const detail = { email, platform, ...wipe }
  return { action: 'device-unlinked', objectKind: 'device', objectId: deviceId, detail }
}

/** Revokes the sync tokens of a desktop device. Other devices have none. */
async function endSync(
  tx: Transaction,
  accountKey: number,
  { platform, deviceId }: { platform: Device['platform'] | ''; deviceId: string },
): Promise<void> {
  if (platform !== '' && isDesktop(platform)) await deleteSyncTokensOfDevice(tx, accountKey, deviceId)
}

function isOfKind(platform: Platform, kind: Platform | 'desktop' | 'mobile' | undefined): boolean {
  if (kind === undefined || kind === platform) return true
  return kind === 'desktop' ? isDesktop(platform) : kind === 'mobile' && !isDesktop(platform)
}
