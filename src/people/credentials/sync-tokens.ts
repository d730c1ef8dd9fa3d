import { randomBytes } from 'node:crypto'
import type { MaybePromise } from '../../base/scheduling/index.ts'
import { type Database, type Transaction, writeIfSpace } from '../../platform/database/index.ts'
import { type Authenticated, credentialOriginOf } from './credential-origin.ts'
import { cut } from './device.ts'
import {
  deleteSyncTokens,
  deleteSyncTokensOfLibrary,
  evictSyncTokens,
  findSyncGrant,
  insertSyncToken,
  type SyncDevice,
  type SyncGrant,
  updateSyncTokenUse,
} from './sync-token-store.ts'
import { hashOf, hashOfToken } from './token-hash.ts'
import { tokenLimits } from './token-limits.ts'

/** A library or sub-library to be synced. */
export interface SyncedLibrary {
  readonly key: number
  readonly epoch: number
  readonly sub: { readonly key: number } | undefined
}

/** Sync tokens: 40 hex characters that authenticate one device for one library. Only hashes are stored. */
export class SyncTokens {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  /**
   * A new token on each call. It ends with the credential of `holder`. For a sub-library it opens nothing
   * else. Beyond 100 of an account for a library, those that were not used for the longest time end.
   */
  async issue(library: SyncedLibrary, holder: Authenticated): Promise<string> {
    return this.#db.write((tx) => this.issueIn(tx, library, holder))
  }

  /** As issue, in a transaction of the caller, for example the one that creates the library. */
  async issueIn(tx: Transaction, library: SyncedLibrary, holder: Authenticated): Promise<string> {
    const token = randomBytes(20).toString('hex')
    const origin = { ...credentialOriginOf(holder), epoch: holder.epoch }
    const { key: libraryKey, epoch: libraryEpoch, sub } = library
    await insertSyncToken(
      tx,
      hashOf(token),
      { libraryKey, libraryEpoch, subKey: sub?.key, origin },
      this.#now(),
    )
    const { accountKey } = origin
    await evictSyncTokens(tx, hashOf(token), { libraryKey, accountKey }, tokenLimits.syncPerLibrary - 1)
    return token
  }

  /** One new token per library, in the given order. */
  async issueMany(libraries: readonly SyncedLibrary[], holder: Authenticated): Promise<string[]> {
    return this.#db.write(async (tx) => {
      const tokens: string[] = []
      for (const library of libraries) tokens.push(await this.issueIn(tx, library, holder))
      return tokens
    })
  }

  /** The grant of a token. `CredentialOrigins` checks whether its origin is still valid. */
  authenticate(token: string): MaybePromise<SyncGrant | undefined> {
    const hash = hashOfToken(token)
    return hash && findSyncGrant(this.#db, hash)
  }

  /** Refers to a token in a derived credential (a notification token). It does not authenticate by itself. */
  referenceTo(token: string): string {
    return hashOf(token).toString('hex')
  }

  /** The grant of a referenced token; undefined once the token was revoked. */
  async findReferenced(reference: string): Promise<SyncGrant | undefined> {
    return findSyncGrant(this.#db, Buffer.from(reference, 'hex'))
  }

  /** Records the device that used a token, and the time. */
  async recordUse(token: string, device: SyncDevice): Promise<void> {
    const kept = {
      ...device,
      deviceName: cut(device.deviceName, 255),
      clientVersion: cut(device.clientVersion, 64),
    }
    await writeIfSpace(this.#db, (tx) => updateSyncTokenUse(tx, hashOf(token), kept, this.#now()))
  }

  /** All sync tokens of a library, or only those of one account. */
  async revokeForLibrary(tx: Transaction, libraryKey: number, accountKey?: number): Promise<void> {
    if (accountKey === undefined) await deleteSyncTokensOfLibrary(tx, libraryKey)
    else await deleteSyncTokens(tx, { libraryKey, accountKey })
  }
}
