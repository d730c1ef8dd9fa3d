import type { Dirent } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath, segmentsOf } from '../../base/paths/index.ts'
import { commitMessages } from '../commits/index.ts'
import { dbOf } from '../library/for-operations.ts'
import { type EditableLibrary, fileLocks, type LibraryCore } from '../library/index.ts'
import { dropBound } from './bound-paths-store.ts'
import { type RoomLeft, refuseOverQuota } from './selection.ts'

/** An item whose objects and blocks are in the library, and that no commit refers to yet. */
interface RestoredItem {
  readonly entry: Dirent
  /** The folder it goes to; created if it is missing. */
  readonly folder: LibraryPath
  /** Bytes in it. */
  readonly bytes: number
  /** The time of the state it comes from, Unix seconds. */
  readonly from: number
  /** Replaces an item of its name. Otherwise it gets a numbered name. */
  readonly replace: boolean
  /** Paths in it, relative to it, that cannot be restored and are left out. */
  readonly leftOut: readonly LibraryPath[]
}

/** Where the item is now. `unchanged` if it was there already. */
interface PlacedItem {
  readonly path: LibraryPath
  readonly outcome: 'added' | 'replaced' | 'unchanged'
}

/**
 * Adds an item that was restored from a backup, with one commit, so that the state before stays in the history. Throws path-not-found if a file has
 * the path of a folder above it, locked, quota-exceeded.
 */
export async function placeRestored(
  core: LibraryCore,
  library: EditableLibrary,
  { entry, folder, bytes, from, replace, leftOut }: RestoredItem,
  roomLeft: RoomLeft,
): Promise<PlacedItem> {
  const { result } = await library.commit<PlacedItem>(async (tree, info) => {
    const wanted = joinPath(folder, entry.name)
    const now = await tree.find(wanted)
    if (now?.kind === entry.kind && now.id === entry.id) {
      return { description: '', result: { path: wanted, outcome: 'unchanged' } }
    }
    await refuseOverQuota(info, bytes, roomLeft)
    const replaced = replace && now !== undefined ? await listBelow(core, library, wanted) : []
    if (replace && now !== undefined) {
      await fileLocks.refuse(core, library, [wanted])
      await tree.take(wanted)
    }
    await tree.makeDirs(folder, { restored: true })
    const name =
      entry.kind === 'file'
        ? await tree.freeNameIn(folder, entry.name)
        : await tree.freeWholeNameIn(folder, entry.name)
    const path = joinPath(folder, name)
    await tree.put(folder, { ...entry, name })
    for (const lost of leftOut) await tree.take(segmentsOf(lost).reduce(joinPath, path))
    const gone: LibraryPath[] = []
    for (const one of replaced) {
      const there = await tree.find(one.path)
      if (there === undefined || (there.kind === 'dir') !== one.isDir) gone.push(one.path)
    }
    const isOriginal = name === entry.name
    return {
      description: isOriginal
        ? commitMessages.restored([{ kind: entry.kind, name, from }])
        : commitMessages.added([{ kind: entry.kind, name }]),
      result: { path, outcome: replace && now !== undefined ? 'replaced' : 'added' },
      also: (tx) => dropBound(core.pathBindings, tx, library.info, gone),
    }
  })
  return result
}

/** The items at and below a path that rows are bound to. */
async function listBelow(
  core: LibraryCore,
  library: EditableLibrary,
  at: LibraryPath,
): Promise<{ path: LibraryPath; isDir: boolean }[]> {
  const found: { path: LibraryPath; isDir: boolean }[] = []
  for (const binding of core.pathBindings) {
    for (const item of (await binding.listItems?.(dbOf(core), library.info.key)) ?? []) {
      if (item.path === at || item.path.startsWith(`${at}/`)) found.push(item)
    }
  }
  return found
}
