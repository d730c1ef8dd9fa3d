import type { Dirent, FileDirent } from '../../base/objects/index.ts'
import type { StoredDir, Tree } from '../../libraries/tree/index.ts'
import { FreeNames, harmlessName, harmlessNames } from './zip/names.ts'
import type { ZipEntry } from './zip/records.ts'

/** An item to pack: a file or an empty folder. */
export interface ArchiveItem {
  readonly entry: ZipEntry
  /** Undefined for a folder. */
  readonly file: FileDirent | undefined
}

interface Level {
  readonly prefix: string
  readonly dirents: readonly Dirent[]
  readonly names: readonly string[]
  next: number
}

/**
 * Everything in `roots` and below, by name. Each root is at the top of the archive;
 * duplicate names get ` (n)`. Memory: one dir per level.
 */
export async function* walkArchive(tree: Tree, roots: readonly Dirent[]): AsyncGenerator<ArchiveItem, void> {
  const free = new FreeNames()
  const names = roots.map(({ name }) => free.take(harmlessName(name)))
  const stack: Level[] = [{ prefix: '', dirents: roots, names, next: 0 }]
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    const dirent = level.dirents[level.next]
    const name = level.prefix + level.names[level.next]
    level.next += 1
    if (dirent === undefined) {
      stack.pop()
    } else if (dirent.kind === 'file') {
      yield { entry: { name, mtime: dirent.mtime, mode: fileMode(dirent) }, file: dirent }
    } else {
      const found = tree.dirOf(dirent)
      const stored = found instanceof Promise ? await found : found
      if (stored.dir.size > 0) stack.push(levelOf(`${name}/`, stored))
      else yield { entry: { name: `${name}/`, mtime: dirent.mtime, mode: FOLDER_MODE }, file: undefined }
    }
  }
}

const FOLDER_MODE = 0o040755

/** Dirs are stored in descending order. */
function levelOf(prefix: string, { dir }: StoredDir): Level {
  const dirents = dir.entries.toReversed()
  return { prefix, dirents, names: harmlessNames(dirents.map(({ name }) => name)), next: 0 }
}

// A synced tree may have any mode. A symlink mode would let an archive escape its folder when unpacked.
function fileMode({ mode }: FileDirent): number {
  return (mode & 0o111) === 0 ? 0o100644 : 0o100755
}
