import type { Database, Transaction } from '../database/database.ts'
import { fail } from '../errors.ts'
import { type Account, displayName } from '../identity/account.ts'
import type { Group } from '../identity/group.ts'
import { findMembership } from '../identity/group-store.ts'
import { roleAllows } from '../identity/roles.ts'
import type { LibraryCore } from '../library/core.ts'
import type { Also } from '../library/libraries.ts'
import type { AdministeredLibrary, Library, Right } from '../library/library.ts'
import type { SubLibrary } from '../library/library-info.ts'
import { inOrigin, originOf } from '../library/scope.ts'
import { subLibraryPlace, subLibraryToShare } from '../library/sub-libraries.ts'
import { findSubLibraryAt, listSubLibraries } from '../library/sub-library-store.ts'
import { type LibraryPath, ROOT, selfAndAbove } from '../objects/paths.ts'
import type { Grantee } from './grant.ts'
import {
  accountsReading,
  deleteShare,
  findShare,
  insertShare,
  type Share,
  type SharedThing,
  sharesOn,
  updateShare,
} from './share-store.ts'
import { listShared, type SharedLibrary } from './shared-libraries.ts'

/** Whom something is to be shared with. */
export type Recipient =
  | { readonly to: 'user'; readonly account: Account }
  | { readonly to: 'group'; readonly group: Group }
  | { readonly to: 'everyone' }

/** `admin` is writing, and managing shares. */
export type SharePermission = 'r' | 'rw' | 'admin'

/** What is to be shared, with whom, and how. */
export interface ShareWish {
  /** The folder; the root for all of it. */
  readonly path: LibraryPath
  readonly recipient: Recipient
  readonly permission: SharePermission
}

/** Manages who may read and write what. What is `also` to be written is written only with what is done. */
export class Shares {
  readonly #core: LibraryCore
  readonly #db: Database

  constructor(core: LibraryCore) {
    this.#core = core
    this.#db = core.db
  }

  /** The shares of a folder, or of a library as a whole; those of folders above and below are not among them. */
  async on(library: Library, path: LibraryPath): Promise<Share[]> {
    const thing = await this.#find(library, path)
    return thing === undefined ? [] : sharesOn(this.#db, thing)
  }

  /**
   * Shares a library or a folder of it. Gives the sub-library of a folder. Throws role-forbids,
   * shared-to-owner, already-shared; permission-denied for a group the sharer is not in; path-not-found,
   * and encrypted-mismatch for a folder of an encrypted library.
   */
  async share(
    library: AdministeredLibrary,
    by: Account,
    { path, recipient, permission }: ShareWish,
    also?: Also,
  ): Promise<SubLibrary | undefined> {
    await this.#refuse(library, by, recipient)
    const { granteeKey, name } = keyOf(recipient)
    const share = { grantee: recipient.to, granteeKey, ...rightOf(permission), grantedBy: by.key }
    const isWhole = inOrigin(library.info, path) === ROOT
    const place = isWhole ? undefined : await subLibraryPlace(library, path)
    return this.#db.write(async (tx) => {
      const sub = place && (await subLibraryToShare(tx, place))
      const thing = { libraryKey: library.info.key, subKey: sub?.key }
      if (!(await insertShare(tx, thing, share, this.#core.now()))) fail({ code: 'already-shared', name })
      await also?.(tx)
      return sub
    })
  }

  /** Changes what a share gives. False if there is none. */
  async change(
    library: AdministeredLibrary,
    { path, recipient, permission }: ShareWish,
    also?: Also,
  ): Promise<boolean> {
    const thing = await this.#find(library, path)
    if (thing === undefined) return false
    const { granteeKey } = keyOf(recipient)
    const share = { grantee: recipient.to, granteeKey, ...rightOf(permission) }
    return this.#db.write((tx) => ifDone(updateShare(tx, thing, share), tx, also))
  }

  /** Ends a share, at once. False if there is none. */
  async revoke(
    library: AdministeredLibrary,
    { path, recipient }: Omit<ShareWish, 'permission'>,
    also?: Also,
  ): Promise<boolean> {
    const thing = await this.#find(library, path)
    if (thing === undefined) return false
    return this.#delete(thing, recipient.to, keyOf(recipient).granteeKey, also)
  }

  /** Ends what the holder was given personally. False if it was not. */
  leave(library: Library, also?: Also): Promise<boolean> {
    return this.#delete(wholeOf(library), 'user', library.actor.key, also)
  }

  /** Whether a library as a whole is shared with a group, and how. */
  find(library: Library, grantee: Grantee, granteeKey: number): Promise<Share | undefined> {
    return findShare(this.#db, wholeOf(library), grantee, granteeKey)
  }

  /** Ends the share of a library with a group. For administrators of either. */
  revokeFromGroup(library: Library, group: Group, also?: Also): Promise<boolean> {
    return this.#delete(wholeOf(library), 'group', group.key, also)
  }

  /** Ends the share with everyone. For the owner, and administrators of the server. */
  unpublish(library: Library, also?: Also): Promise<boolean> {
    return this.#delete(wholeOf(library), 'everyone', 0, also)
  }

  /** What the user shares out: libraries, and folders of them. */
  sharedOutBy(user: Account): Promise<SharedLibrary[]> {
    return listShared(this.#core, { ownedBy: user.key })
  }

  /** What is shared with a group. */
  sharedWith(group: Group): Promise<SharedLibrary[]> {
    return listShared(this.#core, { to: 'group', keys: [group.key] })
  }

  /** What is shared with several groups; each share says with which. */
  sharedWithAny(groups: readonly Group[]): Promise<SharedLibrary[]> {
    return listShared(this.#core, { to: 'group', keys: groups.map(({ key }) => key) })
  }

  /** The keys of the accounts that can read a library: its owner, and those it or a folder above is shared with. */
  async readersOf(library: Library): Promise<number[]> {
    const { info } = library
    const origin = originOf(info)
    const above = new Set<string>(info.sub === undefined ? [] : selfAndAbove(info.sub.path))
    const subs = info.sub === undefined ? [] : await listSubLibraries(this.#db, info.key)
    const subKeys = subs.filter(({ path }) => above.has(path)).map(({ key }) => key)
    return [...new Set([origin.ownerKey, ...(await accountsReading(this.#db, info.key, subKeys))])]
  }

  /** Shares a library that is about to be made, in the transaction that makes it. */
  async shareNew(
    tx: Transaction,
    libraryKey: number,
    by: Account,
    recipient: Recipient,
    permission: SharePermission,
  ): Promise<void> {
    const { granteeKey } = keyOf(recipient)
    const share = { grantee: recipient.to, granteeKey, ...rightOf(permission), grantedBy: by.key }
    await insertShare(tx, { libraryKey, subKey: undefined }, share, this.#core.now())
  }

  #delete(thing: SharedThing, grantee: Grantee, granteeKey: number, also?: Also): Promise<boolean> {
    return this.#db.write((tx) => ifDone(deleteShare(tx, thing, grantee, granteeKey), tx, also))
  }

  async #refuse(library: Library, by: Account, recipient: Recipient): Promise<void> {
    const action = recipient.to === 'everyone' ? 'publish-library' : 'share'
    if (!roleAllows(by.role, action)) fail({ code: 'role-forbids', action })
    if (recipient.to === 'user' && recipient.account.key === library.info.ownerKey) {
      fail({ code: 'shared-to-owner' })
    }
    if (recipient.to === 'group' && !(await findMembership(this.#db, recipient.group.key, by.key))) {
      fail({ code: 'permission-denied' })
    }
  }

  /** What shares of a folder are kept under; undefined for a folder that was never shared. */
  async #find(library: Library, path: LibraryPath): Promise<SharedThing | undefined> {
    const libraryKey = library.info.key
    const place = inOrigin(library.info, path)
    if (place === ROOT) return { libraryKey, subKey: undefined }
    const sub = await findSubLibraryAt(this.#db, libraryKey, place)
    return sub && { libraryKey, subKey: sub.key }
  }
}

/** The permission on the wire, where an administrator's is writing. */
export function rightOf(permission: SharePermission): Right {
  return { permission: permission === 'r' ? 'r' : 'rw', isAdmin: permission === 'admin' }
}

async function ifDone(done: Promise<boolean>, tx: Transaction, also?: Also): Promise<boolean> {
  const isDone = await done
  if (isDone) await also?.(tx)
  return isDone
}

function wholeOf({ info }: Library): SharedThing {
  return { libraryKey: info.key, subKey: info.sub?.key }
}

function keyOf(recipient: Recipient): { granteeKey: number; name: string } {
  if (recipient.to === 'user') {
    return { granteeKey: recipient.account.key, name: displayName(recipient.account) }
  }
  if (recipient.to === 'group') return { granteeKey: recipient.group.key, name: recipient.group.name }
  return { granteeKey: 0, name: 'everyone' }
}
