import { describeAdded, describeDeleted } from '../commits/index.ts'
import { copyObjects, reencrypt } from '../content/index.ts'
import type { Transaction } from '../database/index.ts'
import { fail } from '../errors.ts'
import { type DirDirent, type LibraryPath, parentOf } from '../objects/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import type { Totals } from '../tree/index.ts'
import { dropBound } from './bound-paths-store.ts'
import { dbOf, type LibraryCore } from './core.ts'
import type { Placed } from './entries.ts'
import type { EditableLibrary, Library } from './library.ts'
import { refuseLocked } from './locks.ts'
import { entriesOf, pathsOf, place, type RoomLeft, refuseOverQuota, takeAll, totalsOf } from './selection.ts'

/** Entries of one library on their way into a folder of another. */
export interface CrossLibraryCopy {
  readonly source: Library
  readonly chosen: readonly Placed[]
  readonly target: EditableLibrary
  readonly folder: LibraryPath
  readonly roomLeft: RoomLeft
  /** A folder and one of its name become one. */
  readonly merge?: boolean
}

/** Sees how far a crossing is. What it throws ends the crossing, and nothing of it can be seen. */
export interface Watcher {
  /** What there is to copy. */
  counted(totals: Totals): Promise<void>
  /** In each transaction that copies something, which may be tried twice: how many files so far. */
  copied(tx: Transaction, files: number): Promise<void>
  /** Just before the commit that shows the copy, each time that is tried. */
  placing(): Promise<void>
  /** In the transaction of the commit that shows the copy. Of faults only (I2). */
  placed(tx: Transaction): Promise<void>
}

/** As Watcher, for the second half of a move. */
export interface RemovalWatcher {
  /** Just before the commit that takes the originals away, each time that is tried. */
  removing(): Promise<void>
  /** In the transaction of that commit. Of faults only (I2). */
  removed(tx: Transaction): Promise<void>
}

/**
 * Copies into another library, with one commit there. The objects are shared and no bytes are copied, unless one of
 * the two is encrypted. Throws path-not-found, quota-exceeded, too-many-entries, password-needed.
 */
export async function copyBetweenLibraries(
  core: LibraryCore,
  { source, chosen, target, folder, roomLeft, merge = false }: CrossLibraryCopy,
  watcher?: Watcher,
): Promise<Placed[]> {
  await target.tree.getDir(folder)
  const totals = await totalsOf(chosen, (entry) => core.objects.totalsOf(source.info.key, entry))
  await watcher?.counted(totals)
  await refuseOverQuota(target.info, totals.size, roomLeft)
  // Ahead of the copy; the library as a whole is checked where its head moves.
  const fault = core.growth.refusalOf({
    entriesBefore: 0,
    entries: totals.fileCount + (totals.dirCount ?? 0),
  })
  if (fault !== undefined) fail(fault)
  const arrived = await copyContent(core, source, chosen, target, watcher)
  const { result } = await target.commit(async (tree, library) => {
    await watcher?.placing()
    await refuseOverQuota(library, totals.size, roomLeft)
    const contentOf = (dirent: DirDirent) => core.objects.getDir(target.info.key, dirent.id)
    const placed = await place(tree, folder, arrived, target.actor.email, merge ? contentOf : undefined)
    const also = watcher?.placed.bind(watcher)
    return { description: describeAdded(entriesOf(chosen)), result: placed, ...(also && { also }) }
  })
  return result
}

/**
 * Deletes entries that are still what they were when they were copied, with one commit. What was changed
 * since must not be lost: then nothing is deleted. Throws source-changed, locked.
 */
export async function takeAway(
  core: LibraryCore,
  source: EditableLibrary,
  chosen: readonly Placed[],
  watcher?: RemovalWatcher,
): Promise<void> {
  const paths = pathsOf(chosen)
  await source.commit(async (tree) => {
    await watcher?.removing()
    await refuseLocked(core, source, paths)
    const pace = new TimeSlicer()
    for (const { path, entry } of chosen) {
      const now = await tree.find(path)
      if (now?.id !== entry.id || now.kind !== entry.kind)
        fail({ code: 'source-changed', path: parentOf(path) })
      if (pace.isDue) await pace.rest()
    }
    await takeAll(tree, chosen)
    return {
      description: describeDeleted(entriesOf(chosen)),
      result: undefined,
      async also(tx) {
        await dropBound(core.pathBindings, tx, source.info, paths)
        await watcher?.removed(tx)
      },
    }
  })
}

/** Throws password-needed: what is encrypted with the key of one library would be garbage in another. */
export function refuseUndecrypted({ keys }: LibraryCore, source: Library, target: Library): void {
  keys.keyFor(source)
  keys.keyFor(target)
}

/** Gives the target what the entries are made of; they may be others there. */
async function copyContent(
  core: LibraryCore,
  source: Library,
  chosen: readonly Placed[],
  target: Library,
  watcher: Watcher | undefined,
): Promise<readonly Placed[]> {
  const from = { libraryKey: source.info.key, key: core.keys.keyFor(source) }
  const to = { libraryKey: target.info.key, key: core.keys.keyFor(target) }
  const entries = entriesOf(chosen)
  const onStep = watcher?.copied.bind(watcher)
  if (from.key === undefined && to.key === undefined) {
    await copyObjects(
      { db: dbOf(core), objects: core.objects },
      from.libraryKey,
      to.libraryKey,
      entries,
      onStep,
    )
    return chosen
  }
  const arrived = await reencrypt({ ...core, db: dbOf(core) }, from, to, entries, onStep)
  return chosen.map(({ path, entry }, index) => ({ path, entry: arrived[index] ?? entry }))
}
