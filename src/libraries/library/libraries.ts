import { randomBytes } from 'node:crypto'
import { fail, refuseAtLimit } from '../../base/errors.ts'
import { EMPTY_ID, type LibraryId, newCommitId, newLibraryId } from '../../base/objects/index.ts'
import { type AuditActor, accountAction, libraryAction } from '../../people/audit/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { commitMessages, commitRows } from '../commits/index.ts'
import type { LibraryEncryption } from '../content/index.ts'
import type { LibraryInfo, LibraryTransfer } from '../registry/index.ts'
import { deletedLibraries, libraryRenames, libraryRows } from '../registry/index.ts'
import { dbOf, type LibraryCore } from './core.ts'
import type { Actor, OwnedLibrary } from './library.ts'

export interface LibraryOptions {
  /** Chosen by a client that created the encryption values itself. */
  readonly id?: LibraryId
  readonly name: string
  readonly description: string
  readonly encryption?: LibraryEncryption
}

/** Writes further rows in the transaction of a change. */
type AlsoOfLibrary = (tx: Transaction, library: LibraryInfo) => Promise<void>

/**
 * Creates a library with one commit and an empty root. `also` writes further rows in the same transaction.
 * Throws library-id-taken, limit-reached.
 */
export async function createLibrary(
  core: LibraryCore,
  owner: Actor,
  options: LibraryOptions,
  by: AuditActor | undefined,
  also?: AlsoOfLibrary,
): Promise<LibraryInfo> {
  return dbOf(core).write(async (tx) => {
    const library = await createLibraryIn(tx, core, owner, options, by)
    await also?.(tx, library)
    return library
  })
}

/** Whether the library exists and is not deleted. */
export async function libraryExists(core: LibraryCore, id: LibraryId): Promise<boolean> {
  return (await libraryRows.find(dbOf(core), id)) !== undefined
}

/** As createLibrary, within a transaction of the caller. */
export async function createLibraryIn(
  tx: Transaction,
  core: LibraryCore,
  owner: Actor,
  options: LibraryOptions,
  by: AuditActor | undefined,
): Promise<LibraryInfo> {
  await refuseAtLimit('libraries', (most) => libraryRows.countOf(tx, owner.key, most))
  const id = options.id ?? newLibraryId()
  const now = core.now()
  const content = {
    libraryId: id,
    rootId: EMPTY_ID,
    parentId: null,
    secondParentId: null,
    creator: EMPTY_ID,
    creatorName: owner.email,
    description: commitMessages.createdLibrary,
    ctime: now,
  }
  const commit = {
    ...content,
    id: newCommitId(content, randomBytes(20)),
    seq: 1,
    deviceName: undefined,
    clientVersion: undefined,
    conflict: false,
    newMerge: false,
  }
  const key = await libraryRows.insert(tx, {
    id,
    ownerKey: owner.key,
    name: options.name,
    description: options.description,
    head: commit.id,
    root: EMPTY_ID,
    createdAt: now,
    modifier: owner.email,
    encryption: options.encryption,
    historyDays: null,
  })
  if (key === undefined) return fail({ code: 'library-id-taken', id })
  await commitRows.insert(tx, key, [commit])
  const library = (await libraryRows.findByKey(tx, key)) ?? fail({ code: 'library-not-found', id })
  await core.events.record(tx, { kind: 'created', library, actor: owner })
  const detail = by?.actor === owner.email ? {} : { owner: owner.email }
  await core.audit.record(tx, by, libraryAction('library-made', library, detail))
  return library
}

/** Throws library-not-found. */
export async function getLibrary(core: LibraryCore, id: LibraryId): Promise<LibraryInfo> {
  return (await libraryRows.find(dbOf(core), id)) ?? fail({ code: 'library-not-found', id })
}

/**
 * Changes the name, and the description if given, with a commit of its own. Throws permission-denied for a read-only library.
 */
export async function renameLibrary(
  core: LibraryCore,
  library: OwnedLibrary,
  name: string,
  description: string | undefined,
  by: AuditActor | undefined,
): Promise<void> {
  if (library.info.status !== 'normal') fail({ code: 'permission-denied' })
  await library.commit(async (_tree, now) => {
    const text = { name, description: description ?? now.description }
    // Without a commit if nothing differs, so that repeating it stores nothing.
    const isChanged = name !== now.name || text.description !== now.description
    if (!isChanged) return { description: '', result: undefined }
    return {
      description: commitMessages.renamedLibrary,
      result: undefined,
      always: true,
      library: text,
      also: async (tx) => {
        await libraryRows.setText(tx, now.key, text.name, text.description)
        if (name !== now.name) await libraryRenames.insert(tx, now, name)
        await core.audit.record(tx, by, libraryAction('library-renamed', now, { to: name }))
      },
    }
  })
}

/**
 * Moves a library to the owner's deleted ones, from where it can be restored. Its sync tokens, links and
 * library tokens end and must be created again.
 */
export async function deleteLibrary(
  core: LibraryCore,
  library: OwnedLibrary,
  by: AuditActor | undefined,
): Promise<void> {
  const { key, id } = library.info
  await dbOf(core).write(async (tx) => {
    if (!(await deletedLibraries.mark(tx, key, core.now()))) fail({ code: 'library-not-found', id })
    // Before the dependents: its recipients are read from the shares.
    await core.events.record(tx, { kind: 'deleted', library: library.info, actor: library.actor })
    for (const dependent of core.dependents) await dependent.onDeleted?.(tx, [key])
    await core.audit.record(tx, by, libraryAction('library-deleted', library.info))
  })
  await core.keys.forgetLibrary(id)
}

/**
 * Transfers a library. History, files and trash stay; devices of the old owner are unlinked. Shares end
 * unless they are kept, except one with everyone. Links of the old owner become links of the new one. Throws
 * library-not-found if it was deleted or transferred meanwhile, and quota-exceeded or limit-reached if the new owner has no room
 * for it, which an administrator may override.
 */
export async function transferLibrary(
  core: LibraryCore,
  library: OwnedLibrary,
  to: Actor,
  by: AuditActor | undefined,
  { keepShares = false }: { keepShares?: boolean } = {},
): Promise<void> {
  await dbOf(core).write(async (tx) => {
    const { key, id, ownerKey } = library.info
    if (library.isOwner) await refuseAtLimit('libraries', (most) => libraryRows.countOf(tx, to.key, most))
    if (!(await libraryRows.setOwner(tx, key, ownerKey, to.key))) fail({ code: 'library-not-found', id })
    if (library.isOwner) await core.growth.refuseOverQuota(tx, library.info)
    // Before the dependents: its recipients are read from the shares.
    await core.events.record(tx, { kind: 'transferred', library: library.info, actor: library.actor, to })
    const shares = keepShares ? 'regrant' : 'drop'
    await announceTransfer(core, tx, { libraryKeys: [key], from: ownerKey, to: to.key, shares })
    const detail = { ...(library.isOwner && { from: library.actor.email }), to: to.email }
    await core.audit.record(tx, by, libraryAction('library-transferred', library.info, detail))
  })
  await core.keys.forgetAccount(library.info.ownerKey, library.info.id)
}

async function announceTransfer(
  core: LibraryCore,
  tx: Transaction,
  transfer: LibraryTransfer,
): Promise<void> {
  for (const dependent of core.dependents) await dependent.onTransferred?.(tx, transfer)
}

/** Moves the libraries of a removed account to the trash, in the transaction that removes the account. */
export async function deleteLibrariesOf(
  tx: Transaction,
  ownerKey: number,
  { dependents, now }: Pick<LibraryCore, 'dependents' | 'now'>,
): Promise<void> {
  const libraryKeys = (await libraryRows.listWholeOf(tx, ownerKey)).map(({ key }) => key)
  for (const dependent of dependents) await dependent.onDeleted?.(tx, libraryKeys)
  await deletedLibraries.markAllOf(tx, ownerKey, now())
}

/** As transferLibrary, for all libraries of an account. For administrators: nothing is checked here. */
export async function transferAllLibraries(
  core: LibraryCore,
  from: Actor,
  to: Actor,
  by: AuditActor | undefined,
): Promise<void> {
  await dbOf(core).write(async (tx) => {
    const libraries = await libraryRows.listWholeOf(tx, from.key)
    await libraryRows.setOwnerOfAll(tx, from.key, to.key)
    for (const library of libraries) {
      await core.events.record(tx, { kind: 'transferred', library, actor: from, to })
    }
    const libraryKeys = libraries.map(({ key }) => key)
    await announceTransfer(core, tx, { libraryKeys, from: from.key, to: to.key, shares: 'keep' })
    const detail = { to: to.email, all: true }
    await core.audit.record(tx, by, accountAction('library-transferred', from.email, detail))
  })
}
