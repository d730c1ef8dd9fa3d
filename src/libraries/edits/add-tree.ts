import { fail } from '../../base/errors.ts'
import { fileDirent } from '../../base/objects/index.ts'
import { below, joinPath, type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { commitMessages } from '../commits/index.ts'
import type { Content } from '../content/index.ts'
import type { EditableLibrary } from '../library/index.ts'
import type { WorkingTree } from '../tree/index.ts'
import { type RoomLeft, refuseOverQuota } from './selection.ts'
import { modificationTime } from './upload.ts'

/** Maximum number of numbered entries of one name in a folder. */
const MAX_NUMBERED = 1000

/** New files and folders, by their paths below the folder they are added to. No file has the path of a folder. */
interface NewTree {
  readonly files: readonly {
    readonly path: LibraryPath
    readonly content: Content
    /** Unix seconds. Default: the time of the commit. */
    readonly mtime: number | undefined
  }[]
  readonly folders: readonly LibraryPath[]
}

interface AddTreeOptions {
  /** The name of a new folder that contains everything. Without one, everything goes into the folder itself. */
  readonly container?: string | undefined
  readonly roomLeft: RoomLeft
  /** Called before each attempt to commit. */
  readonly placing: () => Promise<void>
  /** Called in the transaction of the commit. May throw only faults (I2). */
  readonly placed: (tx: Transaction) => Promise<void>
}

/**
 * Adds files and folders to a folder in one commit. Nothing is replaced: a top-level entry whose name is taken gets ` (n)`. Throws
 * path-not-found for the folder, quota-exceeded, too-many-names, name-invalid for a path that is too long.
 */
export async function addTree(
  library: EditableLibrary,
  folder: LibraryPath,
  { files, folders }: NewTree,
  { container, roomLeft, placing, placed }: AddTreeOptions,
): Promise<void> {
  const bytes = files.reduce((sum, { content }) => sum + content.size, 0)
  await library.commit(async (tree, info) => {
    await placing()
    if (!(await tree.hasDir(folder))) fail({ code: 'path-not-found', path: folder, wanted: 'Folder' })
    await refuseOverQuota(info, bytes, roomLeft)
    const tops = await topNames(tree, folder, container, [...folders, ...files.map(({ path }) => path)])
    const placeOf = (path: LibraryPath) => {
      const [top, rest] = splitTop(path)
      return container === undefined
        ? below(joinPath(folder, tops.get(top) ?? top), rest)
        : below(joinPath(folder, tops.get(container) ?? container), path)
    }
    const slicer = new TimeSlicer()
    for (const path of folders) {
      await tree.makeDirs(placeOf(path))
      if (slicer.isDue) await slicer.rest()
    }
    for (const { path, content, mtime } of files) {
      const place = placeOf(path)
      const parent = parentOf(place)
      if (!(await tree.hasDir(parent))) await tree.makeDirs(parent)
      const { id, size } = content
      const name = place.slice(place.lastIndexOf('/') + 1)
      await tree.put(
        parent,
        fileDirent({
          id,
          name,
          size,
          mtime: modificationTime(mtime, tree.now),
          modifier: library.actor.email,
        }),
      )
      if (slicer.isDue) await slicer.rest()
    }
    const added = await Promise.all([...tops.values()].map((name) => tree.find(joinPath(folder, name))))
    return {
      description: commitMessages.added(added.filter((entry) => entry !== undefined)),
      result: undefined,
      contents: files.map(({ content }) => content),
      also: placed,
    }
  })
}

/** A free name for each top-level entry, or for the container. */
async function topNames(
  tree: WorkingTree,
  folder: LibraryPath,
  container: string | undefined,
  paths: readonly LibraryPath[],
): Promise<Map<string, string>> {
  const wanted = container === undefined ? [...new Set(paths.map((path) => splitTop(path)[0]))] : [container]
  const free = await tree.freeNamesIn(folder, wanted, MAX_NUMBERED)
  return new Map(wanted.map((name, index) => [name, free[index] ?? name]))
}

/** The first name of a path, and the path below it. */
function splitTop(path: LibraryPath): [string, LibraryPath] {
  const end = path.indexOf('/', 1)
  return end < 0 ? [path.slice(1), ROOT] : [path.slice(1, end), path.slice(end) as LibraryPath]
}
