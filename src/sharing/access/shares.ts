import { fail } from '../../base/errors.ts'
import { baseName, joinPath, type LibraryPath, parentOf, ROOT, selfAndAbove } from '../../base/paths/index.ts'
import type {
  Actor,
  AdministeredLibrary,
  Library,
  LibraryCore,
  Right,
} from '../../libraries/library/index.ts'
import {
  asSeen,
  inOrigin,
  type LibraryInfo,
  originOf,
  type SubLibrary,
} from '../../libraries/registry/index.ts'
import {
  filePlace,
  findSubLibraryAt,
  findSubLibraryByKey,
  listSubLibraries,
  subLibraryPlace,
  subLibraryToShare,
} from '../../libraries/views/index.ts'
import {
  type Account,
  displayName,
  type Group,
  groupRows,
  isAdmin,
  roleAllows,
} from '../../people/accounts/index.ts'
import { type AuditActor, type AuditedAction, accountAction } from '../../people/audit/index.ts'
import type { Database, Reader, Transaction } from '../../platform/database/index.ts'
import { shareAction } from './audited-actions.ts'
import type { Grantee } from './grant.ts'
import type { ShareEvent, ShareRecorder } from './share-events.ts'
import {
  acceptShares,
  accountsReading,
  countHeldShares,
  countSharesOf,
  deleteHeldShares,
  deleteShare,
  deleteSharesExpiredBefore,
  findShare,
  hasSharedWith,
  hasShares,
  insertShare,
  isShareExpired,
  listSharedPaths,
  type Share,
  type SharedItem,
  sharesOn,
  sizesSharedWith,
  updateShare,
} from './share-store.ts'
import { listShared, type SharedLibrary } from './shared-libraries.ts'

/** The grantee of a new share. */
export type Recipient =
  | { readonly to: 'user'; readonly account: Account }
  | { readonly to: 'group'; readonly group: Group }
  | { readonly to: 'everyone' }

/** `admin` includes writing and managing shares. */
export type SharePermission = 'r' | 'rw' | 'admin'

/** Options of a new share. */
export interface ShareOptions {
  /** The folder or file; the root for a whole library. */
  readonly path: LibraryPath
  /** Whether it is a file. */
  readonly isFile?: boolean | undefined
  readonly recipient: Recipient
  readonly permission: SharePermission
  /** Unix seconds. Null removes the expiry. Undefined is never for a new share, and no change for another. */
  readonly expiresAt?: number | null | undefined
}

type EndedShare = Pick<ShareOptions, 'path' | 'recipient'>

/** Shares of one giver with one user, one group, or everyone: what is shared with somebody unasked is in all their listings. */
const MAX_WITH_RECIPIENT: Readonly<Record<Grantee, number>> = { user: 100, group: 100, everyone: 1000 }
/** Shares that wait for one account to accept them. */
const MAX_HELD = 100
/** Shares of one giver. */
const MAX_OF_GIVER = 10_000
/** Expired shares are listed this long, so that they can be extended. */
const EXPIRED_KEPT_SECONDS = 30 * 86_400

/** Creates, changes and revokes shares. */
export class Shares {
  readonly #core: LibraryCore
  readonly #db: Database
  readonly #holdsNewGivers: boolean
  readonly #onAccessChanged: (tx: Transaction, accountKeys: readonly number[]) => void
  readonly #record: ShareRecorder

  constructor(
    parts: {
      core: LibraryCore
      db: Database
      /** Whether what somebody shares with an account for the first time waits until the account accepts it. */
      holdsNewGivers?: boolean
      /** Called in the transaction that accepts or declines shares. */
      onAccessChanged?: (tx: Transaction, accountKeys: readonly number[]) => void
    },
    record: ShareRecorder = async () => {},
  ) {
    this.#core = parts.core
    this.#db = parts.db
    this.#holdsNewGivers = parts.holdsNewGivers ?? false
    this.#onAccessChanged = parts.onAccessChanged ?? (() => {})
    this.#record = record
  }

  /**
   * The shares of exactly this folder, or of the library as a whole, expired ones too. Folders above and
   * below are not included.
   */
  async on(library: Library, path: LibraryPath): Promise<Share[]> {
    const item = await this.#find(library, path)
    return item === undefined ? [] : sharesOn(this.#db, item)
  }

  /**
   * Shares a library, a folder or a file. Returns the sub-library of a folder or file. Throws role-forbids, shared-to-owner,
   * already-shared, limit-reached; permission-denied for a group the caller is not in; path-not-found, and
   * encrypted-mismatch for a folder of an encrypted library.
   */
  async share(
    library: AdministeredLibrary,
    giver: Account,
    options: ShareOptions,
    by: AuditActor | undefined,
  ): Promise<SubLibrary | undefined> {
    const { path, isFile, recipient, permission, expiresAt } = options
    await this.#refuse(library, giver, recipient)
    const { granteeKey, name } = keyOf(recipient)
    const share = {
      grantee: recipient.to,
      granteeKey,
      ...rightOf(permission),
      grantedBy: giver.key,
      expiresAt: expiresAt ?? undefined,
    }
    const isWhole = inOrigin(library.info, path) === ROOT
    const place = isWhole ? undefined : await (isFile ? filePlace : subLibraryPlace)(library, path)
    const now = this.#core.now()
    return this.#db.write(async (tx) => {
      const sub = place && (await subLibraryToShare(tx, place, (subKey) => hasShares(tx, subKey, now)))
      const item = { libraryKey: library.info.key, subKey: sub?.key }
      const before = await findShare(tx, item, recipient.to, granteeKey)
      if (before !== undefined && isShareExpired(before, now)) {
        await deleteShare(tx, item, recipient.to, granteeKey)
      }
      const isHeld = await this.#isHeld(tx, giver, recipient)
      if (!(await insertShare(tx, item, { ...share, isHeld }, now))) fail({ code: 'already-shared', name })
      await refuseTooMany(tx, { ...share, isHeld })
      await this.#recordEvent(tx, library, giver, item, recipient, { kind: 'created', permission, isHeld })
      await this.#core.audit.record(tx, by, shareAction('share-made', library.info, options))
      return sub
    })
  }

  /** Changes the permission and the expiry of a share. Audited if one of them differs. False if it does not exist. */
  async change(
    library: AdministeredLibrary,
    options: ShareOptions,
    by: AuditActor | undefined,
  ): Promise<boolean> {
    const { path, recipient, permission, expiresAt } = options
    const item = await this.#find(library, path)
    if (item === undefined) return false
    const { granteeKey } = keyOf(recipient)
    const right = rightOf(permission)
    return this.#db.write(async (tx) => {
      const before = await findShare(tx, item, recipient.to, granteeKey)
      if (before === undefined) return false
      const until = expiresAt === undefined ? before.expiresAt : (expiresAt ?? undefined)
      if (!(await updateShare(tx, item, { ...before, ...right, expiresAt: until }))) return false
      const isNew = before.permission !== right.permission || before.isAdmin !== right.isAdmin
      const what = { kind: 'changed', permission } as const
      if (isNew && before.isHeld !== true) {
        await this.#recordEvent(tx, library, library.actor, item, recipient, what)
      }
      if (isNew || until !== before.expiresAt) {
        await this.#core.audit.record(tx, by, shareAction('share-changed', library.info, options))
      }
      return true
    })
  }

  /** Revokes a share. False if it does not exist. */
  async revoke(
    library: AdministeredLibrary,
    { path, recipient }: EndedShare,
    by: AuditActor | undefined,
  ): Promise<boolean> {
    const item = await this.#find(library, path)
    return item === undefined ? false : this.#end(library, item, { path, recipient }, by)
  }

  /** Libraries, folders and files that wait for the account to accept them. */
  async held(user: Account): Promise<SharedLibrary[]> {
    const query = { heldFor: user.key }
    const files = await listShared(this.#db, this.#core, query, { files: true })
    return [...(await listShared(this.#db, this.#core, query)), ...files]
  }

  /** Accepts all that a giver has shared with the account. What they share later is not held. False if nothing was held. */
  accept(user: Account, giver: Account, by: AuditActor | undefined): Promise<boolean> {
    const action = accountAction('share-changed', giver.email, { accepted: true })
    return this.#settle(user, (tx) => acceptShares(tx, user.key, giver.key), by, action)
  }

  /** Ends the held shares of a giver. False if there were none. */
  decline(user: Account, giver: Account, by: AuditActor | undefined): Promise<boolean> {
    const action = accountAction('share-ended', giver.email, { declined: true })
    return this.#settle(user, (tx) => deleteHeldShares(tx, user.key, giver.key), by, action)
  }

  #settle(
    user: Account,
    change: (tx: Transaction) => Promise<number>,
    by: AuditActor | undefined,
    action: AuditedAction,
  ): Promise<boolean> {
    return this.#db.write(async (tx) => {
      if ((await change(tx)) === 0) return false
      this.#onAccessChanged(tx, [user.key])
      await this.#core.audit.record(tx, by, action)
      return true
    })
  }

  /** Revokes the holder's own direct share. False if there is none. */
  leave(library: Library, by: AuditActor | undefined): Promise<boolean> {
    return this.#endOfWhole(library, { to: 'user', account: library.actor }, by)
  }

  /** The share of a library as a whole with a grantee. */
  find(library: Library, grantee: Grantee, granteeKey: number): Promise<Share | undefined> {
    return findShare(this.#db, wholeOf(library), grantee, granteeKey)
  }

  /** Revokes the share of a library with a group. For administrators of either. */
  revokeFromGroup(library: Library, group: Group, by: AuditActor | undefined): Promise<boolean> {
    return this.#endOfWhole(library, { to: 'group', group }, by)
  }

  /** Revokes the share with everyone. For the owner and administrators of the server. */
  unpublish(library: Library, by: AuditActor | undefined): Promise<boolean> {
    return this.#endOfWhole(library, { to: 'everyone' }, by)
  }

  /** Libraries and folders, or files, that the user has shared. */
  sharedOutBy(user: Account, options?: { files: boolean }): Promise<SharedLibrary[]> {
    return listShared(this.#db, this.#core, { ownedBy: user.key }, options)
  }

  /** Libraries and folders shared with a group. */
  sharedWith(group: Group): Promise<SharedLibrary[]> {
    return listShared(this.#db, this.#core, { to: 'group', keys: [group.key] })
  }

  /** Libraries and folders shared with any of the groups. Each share names its group. */
  sharedWithAny(groups: readonly Group[]): Promise<SharedLibrary[]> {
    return listShared(this.#db, this.#core, { to: 'group', keys: groups.map(({ key }) => key) })
  }

  /** Total bytes of the libraries shared as a whole with each group, by group key. */
  sizesSharedWith(groups: readonly Group[]): Promise<Map<number, number>> {
    return sizesSharedWith(
      this.#db,
      groups.map(({ key }) => key),
      this.#core.now(),
    )
  }

  /** Deletes shares that expired long ago, as maintenance. */
  deleteExpired(): Promise<number> {
    const before = this.#core.now() - EXPIRED_KEPT_SECONDS
    return this.#db.write((tx) => deleteSharesExpiredBefore(tx, before), { durable: false })
  }

  /** Keys of the accounts that can read a library: its owner, and the grantees of it or of a folder above. */
  async readersOf(library: Library): Promise<number[]> {
    const { info } = library
    const origin = originOf(info)
    const above = new Set<string>(info.sub === undefined ? [] : selfAndAbove(info.sub.path))
    const subs = info.sub === undefined ? [] : await listSubLibraries(this.#db, info.key)
    const subKeys = subs.filter(({ path }) => above.has(path)).map(({ key }) => key)
    const readers = await accountsReading(this.#db, info.key, subKeys, this.#core.now())
    return [...new Set([origin.ownerKey, ...readers])]
  }

  /** Paths of the entries of a folder that have a share in effect. One query, independent of the number of entries. */
  async sharedEntries({ info }: AdministeredLibrary, folder: LibraryPath): Promise<LibraryPath[]> {
    const now = this.#core.now()
    const place = inOrigin(info, folder)
    const shared = await listSharedPaths(this.#db, info.key)
    const here = shared.filter((one) => parentOf(one.path) === place && !isShareExpired(one, now))
    return [...new Set(here.flatMap(({ path }) => asSeen(info, path) ?? []))]
  }

  /** Shares a new library in the transaction that creates it. */
  async shareNew(
    tx: Transaction,
    library: LibraryInfo,
    giver: Account,
    { recipient, permission }: Omit<ShareOptions, 'path'>,
    by: AuditActor | undefined,
  ): Promise<void> {
    const { granteeKey } = keyOf(recipient)
    const share = {
      grantee: recipient.to,
      granteeKey,
      ...rightOf(permission),
      grantedBy: giver.key,
      expiresAt: undefined,
    }
    const item = { libraryKey: library.key, subKey: undefined }
    const isHeld = await this.#isHeld(tx, giver, recipient)
    await insertShare(tx, item, { ...share, isHeld }, this.#core.now())
    await refuseTooMany(tx, { ...share, isHeld })
    await this.#recordEvent(tx, { info: library }, giver, item, recipient, {
      kind: 'created',
      permission,
      isHeld,
    })
    const made = { path: ROOT, recipient, permission }
    await this.#core.audit.record(tx, by, shareAction('share-made', library, made))
  }

  #endOfWhole(library: Library, recipient: EventRecipient, by: AuditActor | undefined): Promise<boolean> {
    return this.#end(library, wholeOf(library), { path: ROOT, recipient }, by)
  }

  #end(
    library: Library,
    item: SharedItem,
    ended: { readonly path: LibraryPath; readonly recipient: EventRecipient },
    by: AuditActor | undefined,
  ): Promise<boolean> {
    const { recipient } = ended
    const granteeKey = recipient.to === 'user' ? recipient.account.key : keyOf(recipient).granteeKey
    return this.#db.write(async (tx) => {
      const before = await findShare(tx, item, recipient.to, granteeKey)
      if (!(await deleteShare(tx, item, recipient.to, granteeKey))) return false
      // The recipient of a held share never had it.
      if (before?.isHeld !== true) {
        await this.#recordEvent(tx, library, library.actor, item, recipient, { kind: 'ended' })
      }
      await this.#core.audit.record(tx, by, shareAction('share-ended', library.info, ended))
      return true
    })
  }

  async #recordEvent(
    tx: Transaction,
    { info }: Pick<Library, 'info'>,
    by: Actor,
    { subKey }: SharedItem,
    recipient: EventRecipient,
    what: { kind: ShareEvent['kind']; permission?: SharePermission; isHeld?: boolean },
  ): Promise<void> {
    const sub = subKey === undefined ? undefined : await findSubLibraryByKey(tx, subKey)
    const name = sub === undefined ? originOf(info).name : baseName(sub.path)
    await this.#record(tx, {
      kind: what.kind,
      by,
      library: { id: sub?.id ?? originOf(info).id, name },
      path: sub === undefined ? ROOT : joinPath(ROOT, name),
      permission: what.permission ?? '',
      isHeld: what.isHeld ?? false,
      group: recipient.to === 'group' ? recipient.group : undefined,
      accountKeys: await accountsOf(tx, recipient),
    })
  }

  /** Whether what an account gives to another has to be accepted first. */
  holds(by: Account, to: Account): Promise<boolean> {
    return this.#isHeld(this.#db, by, { to: 'user', account: to })
  }

  /** Administrators of the server are trusted. */
  async #isHeld(reader: Reader, by: Account, recipient: Recipient): Promise<boolean> {
    if (!this.#holdsNewGivers || recipient.to !== 'user' || isAdmin(by)) return false
    return !(await hasSharedWith(reader, by.key, recipient.account.key))
  }

  async #refuse(library: Library, by: Account, recipient: Recipient): Promise<void> {
    const action = recipient.to === 'everyone' ? 'publish-library' : 'share'
    if (!roleAllows(by.role, action)) fail({ code: 'role-forbids', action })
    if (recipient.to === 'user' && recipient.account.key === library.info.ownerKey) {
      fail({ code: 'shared-to-owner' })
    }
    if (
      recipient.to === 'group' &&
      !(await groupRows.findMembership(this.#db, recipient.group.key, by.key))
    ) {
      fail({ code: 'permission-denied' })
    }
  }

  /** The key for shares of a folder; undefined for a folder that was never shared. */
  async #find(library: Library, path: LibraryPath): Promise<SharedItem | undefined> {
    const libraryKey = library.info.key
    const place = inOrigin(library.info, path)
    if (place === ROOT) return { libraryKey, subKey: undefined }
    const sub = await findSubLibraryAt(this.#db, libraryKey, place)
    return sub && { libraryKey, subKey: sub.key }
  }
}

type EventRecipient = Exclude<Recipient, { to: 'user' }> | { readonly to: 'user'; readonly account: Actor }

async function accountsOf(tx: Transaction, recipient: EventRecipient): Promise<number[]> {
  if (recipient.to === 'user') return [recipient.account.key]
  return recipient.to === 'group' ? groupRows.memberKeys(tx, recipient.group.key) : []
}

/** After the insertion, which rolls back. Throws limit-reached. */
async function refuseTooMany(tx: Transaction, share: Share): Promise<void> {
  const limit = MAX_WITH_RECIPIENT[share.grantee]
  if ((await countSharesOf(tx, share.grantedBy, share)) > limit) {
    fail({ code: 'limit-reached', what: 'shares-with-recipient', limit })
  }
  if ((await countSharesOf(tx, share.grantedBy)) > MAX_OF_GIVER) {
    fail({ code: 'limit-reached', what: 'shares-of-giver', limit: MAX_OF_GIVER })
  }
  if (share.isHeld === true && (await countHeldShares(tx, share.granteeKey)) > MAX_HELD) {
    fail({ code: 'limit-reached', what: 'held-shares', limit: MAX_HELD })
  }
}

/** Converts the wire permission. `admin` is `rw` with the right to manage shares. */
function rightOf(permission: SharePermission): Right {
  return { permission: permission === 'r' ? 'r' : 'rw', isAdmin: permission === 'admin' }
}

function wholeOf({ info }: Library): SharedItem {
  return { libraryKey: info.key, subKey: info.sub?.key }
}

function keyOf(recipient: Recipient): { granteeKey: number; name: string } {
  if (recipient.to === 'user') {
    return { granteeKey: recipient.account.key, name: displayName(recipient.account) }
  }
  if (recipient.to === 'group') return { granteeKey: recipient.group.key, name: recipient.group.name }
  return { granteeKey: 0, name: 'everyone' }
}
