import { fail } from '../../base/errors.ts'
import type { DirDirent } from '../../base/objects/index.ts'
import { type LibraryPath, parentOf } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { commitMessages } from '../commits/index.ts'
import { copyObjects, reencrypt } from '../content/index.ts'
import { dbOf, storesOf } from '../library/for-operations.ts'
import { type EditableLibrary, fileLocks, type Library, type LibraryCore } from '../library/index.ts'
import type { Totals } from '../tree/index.ts'
import { copyBound, dropBound } from './bound-paths-store.ts'
import type { Placed } from './entries.ts'
import { entriesOf, pathsOf, place, type RoomLeft, refuseOverQuota, takeAll, totalsOf } from './selection.ts'

/** A copy of entries of one library into a folder of another. */
interface CrossLibraryCopy {
  readonly source: Library
  readonly chosen: readonly Placed[]
  readonly target: EditableLibrary
  readonly folder: LibraryPath
  readonly roomLeft: RoomLeft
  /** Merges folders of the same name. */
  readonly merge?: boolean
}

/** Observes a copy. If a method throws, the copy is aborted and nothing of it is visible. */
export interface CopyObserver {
  /** The totals to copy. */
  counted(totals: Totals): Promise<void>
  /** Number of files copied so far. Called in each transaction that copies, which may be repeated. */
  copied(tx: Transaction, files: number): Promise<void>
  /** Called before each attempt to commit the copy. */
  placing(): Promise<void>
  /** Called in the transaction of that commit. May throw only faults (I2). */
  placed(tx: Transaction): Promise<void>
}

/** As CopyObserver, for the deletion of the originals of a move. */
export interface RemovalObserver {
  /** Called before each attempt to commit the deletion. */
  removing(): Promise<void>
  /** Called in the transaction of that commit. May throw only faults (I2). */
  removed(tx: Transaction): Promise<void>
}

/**
 * Copies into another library, with one commit there. Objects are shared, and bytes are copied only if one of
 * the two is encrypted. Throws path-not-found, quota-exceeded, too-many-entries, password-needed.
 */
export async function copyBetweenLibraries(
  core: LibraryCore,
  { source, chosen, target, folder, roomLeft, merge = false }: CrossLibraryCopy,
  observer?: CopyObserver,
): Promise<Placed[]> {
  await target.tree.getDir(folder)
  const totals = await totalsOf(chosen, (entry) => source.content.totalsOf(entry))
  await observer?.counted(totals)
  await refuseOverQuota(target.info, totals.size, roomLeft)
  // Checked before the copy. The library as a whole is checked where its head moves.
  const fault = core.growth.refusalOf({
    entriesBefore: 0,
    entries: totals.fileCount + (totals.dirCount ?? 0),
  })
  if (fault !== undefined) fail(fault)
  const arrived = await copyContent(core, source, chosen, target, observer)
  const { result } = await target.commit(async (tree, library) => {
    await observer?.placing()
    await target.refuseLockedFolder(folder)
    await refuseOverQuota(library, totals.size, roomLeft)
    const contentOf = (dirent: DirDirent) => target.content.getDir(dirent.id)
    const placed = await place(tree, folder, arrived, target.actor.email, merge ? contentOf : undefined)
    return {
      description: commitMessages.added(entriesOf(chosen)),
      result: placed,
      async also(tx) {
        await copyBound(core, tx, source.info, target.info, placed)
        await observer?.placed(tx)
      },
    }
  })
  return result
}

/**
 * Deletes entries that are unchanged since they were copied, with one commit. If one was changed, nothing is
 * deleted, so that the change is not lost. Throws source-changed, locked.
 */
export async function deleteCopied(
  core: LibraryCore,
  source: EditableLibrary,
  chosen: readonly Placed[],
  observer?: RemovalObserver,
): Promise<void> {
  const paths = pathsOf(chosen)
  await source.commit(async (tree) => {
    await observer?.removing()
    await fileLocks.refuse(core, source, paths)
    const slicer = new TimeSlicer()
    for (const { path, entry } of chosen) {
      const now = await tree.find(path)
      if (now?.id !== entry.id || now.kind !== entry.kind)
        fail({ code: 'source-changed', path: parentOf(path) })
      if (slicer.isDue) await slicer.rest()
    }
    await takeAll(tree, chosen)
    return {
      description: commitMessages.deleted(entriesOf(chosen)),
      result: undefined,
      async also(tx) {
        await dropBound(core.pathBindings, tx, source.info, paths)
        await observer?.removed(tx)
      },
    }
  })
}

/** Throws password-needed: blocks encrypted with the key of one library are unreadable in another. */
export async function refuseUndecrypted(
  { keys }: LibraryCore,
  source: Library,
  target: Library,
): Promise<void> {
  await keys.keyFor(source)
  await keys.keyFor(target)
}

/** Copies the objects and blocks of the entries to the target, where they may have other ids. For files of this module. */
export async function copyContent(
  core: LibraryCore,
  source: Library,
  chosen: readonly Placed[],
  target: Library,
  observer?: CopyObserver,
): Promise<readonly Placed[]> {
  const from = { libraryKey: source.info.key, key: await core.keys.keyFor(source) }
  const to = { libraryKey: target.info.key, key: await core.keys.keyFor(target) }
  const entries = entriesOf(chosen)
  const onStep = observer?.copied.bind(observer)
  if (from.key === undefined && to.key === undefined) {
    await copyObjects(
      { db: dbOf(core), objects: storesOf(core).objects },
      from.libraryKey,
      to.libraryKey,
      entries,
      onStep,
    )
    return chosen
  }
  const arrived = await reencrypt({ ...storesOf(core), db: dbOf(core) }, from, to, entries, onStep)
  return chosen.map(({ path, entry }, index) => ({ path, entry: arrived[index] ?? entry }))
}
