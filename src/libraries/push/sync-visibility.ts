import { fail } from '../../base/errors.ts'
import { type CommitId, EMPTY_ID } from '../../base/objects/index.ts'
import { commitRows, type NumberedCommit, receivedCommits } from '../commits/index.ts'
import type { LibraryInfo, SubLibrary } from '../registry/index.ts'
import {
  findSubCommit,
  findSubObjects,
  insertSubCommit,
  insertSubObjects,
  joinSubCommits,
} from '../views/index.ts'
import type { PushStores } from './push-stores.ts'

// A sub-library is a view without commits of its own, but its sync clients need commits. The id of its
// synthetic head commit is derived from the content, and the commit is stored when it is first requested.
// Clients' own commits are stored beside them. Objects and blocks are those of the origin. They become
// visible to clients of the view when they are listed to a client or sent by one, so that the id of another
// folder's object grants no access (I7).

/** A commit of a library or sub-library that a client may read. */
export async function findVisibleCommit(
  stores: PushStores,
  library: LibraryInfo,
  id: CommitId,
): Promise<NumberedCommit | undefined> {
  if (library.sub === undefined) return commitRows.find(stores.db, library, id)
  // Lists of libraries name heads without storing them, and some clients never ask for the head itself.
  if (id === library.head) await recordHead(stores, library)
  const found = await findSubCommit(stores.db, library.sub, id)
  return found?.joined ? found.commit : undefined
}

/** As findVisibleCommit, including commits that were received but not pushed. */
export function findReceivedOrVisibleCommit(stores: PushStores, library: LibraryInfo, id: CommitId) {
  return library.sub === undefined
    ? receivedCommits.find(stores.db, library, id)
    : findSubCommit(stores.db, library.sub, id)
}

/** Stores the synthetic head commit of a sub-library, so that clients can request it. */
export async function recordHead(stores: PushStores, library: LibraryInfo): Promise<void> {
  const { sub, head } = library
  if (sub === undefined || (await findSubCommit(stores.db, sub, head))?.joined) return
  const seq = library.headSeq
  await stores.db.write(
    async (tx) => {
      const isNew = await insertSubCommit(tx, sub.key, headCommit(library, sub), { seq })
      if (!isNew) await joinSubCommits(tx, sub.key, [head], seq)
    },
    { durable: false },
  )
}

function headCommit({ head, root, modifier, updatedAt }: LibraryInfo, { id }: SubLibrary) {
  return {
    id: head,
    libraryId: id,
    rootId: root,
    parentId: null,
    secondParentId: null,
    creator: EMPTY_ID,
    creatorName: modifier,
    description: 'Synced with the folder',
    ctime: updatedAt,
    deviceName: undefined,
    clientVersion: undefined,
    conflict: false,
    newMerge: false,
  }
}

/** Makes ids visible to clients of a sub-library. In a whole library every id is visible. */
export async function markVisible(
  stores: PushStores,
  library: LibraryInfo,
  ids: readonly string[],
): Promise<void> {
  const { sub } = library
  if (sub === undefined || ids.length === 0) return
  const known = await visibleAmong(stores, library, ids)
  const fresh = ids.filter((id) => !known.has(id))
  if (fresh.length === 0) return
  await stores.db.write((tx) => insertSubObjects(tx, sub.key, fresh, { isSent: false }), { durable: false })
}

/** Records objects a client sent. They may name objects the client must not read. */
export async function markSent(
  stores: PushStores,
  { sub }: LibraryInfo,
  ids: readonly string[],
): Promise<void> {
  if (sub === undefined || ids.length === 0) return
  await stores.db.write((tx) => insertSubObjects(tx, sub.key, ids, { isSent: true }), { durable: false })
}

/** Those of `ids` that are visible to clients of a sub-library. In a whole library, all of them. */
export async function visibleAmong<T extends string>(
  stores: PushStores,
  { sub }: LibraryInfo,
  ids: readonly T[],
): Promise<ReadonlySet<T>> {
  return sub === undefined ? new Set(ids) : findSubObjects(stores.db, sub.key, ids, { orSent: false })
}

/** As visibleAmong, including objects that were sent and not admitted yet. */
export async function sentOrVisibleAmong<T extends string>(
  stores: PushStores,
  { sub }: LibraryInfo,
  ids: readonly T[],
): Promise<ReadonlySet<T>> {
  return sub === undefined ? new Set(ids) : findSubObjects(stores.db, sub.key, ids, { orSent: true })
}

/** Throws object-missing for ids that are not visible to clients of a sub-library. */
export async function expectVisible(
  stores: PushStores,
  library: LibraryInfo,
  ids: readonly string[],
): Promise<void> {
  if (library.sub === undefined) return
  const shown = await visibleAmong(stores, library, ids)
  const hidden = ids.find((id) => !shown.has(id))
  if (hidden !== undefined) fail({ code: 'object-missing', id: hidden })
}
