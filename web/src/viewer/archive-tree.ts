import type { ArchiveEntry } from '../api/index.ts'

/** A file or folder of an archive. */
export interface ArchiveItem {
  readonly name: string
  readonly isDir: boolean
  /** Bytes; for a folder, of everything in it. */
  size: number
  /** Files in a folder, at any depth. */
  fileCount: number
  readonly mtime: number
  readonly refusal: ArchiveEntry['refusal']
}

/** The content of each folder of an archive by its path, which is empty for the top. */
export type ArchiveTree = ReadonlyMap<string, readonly ArchiveItem[]>

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

/** Builds the tree. Most archives name no folders of their own, so they are derived from the paths of the files. */
export function archiveTree(entries: readonly ArchiveEntry[]): ArchiveTree {
  const folders = new Map<string, Map<string, ArchiveItem>>([['', new Map()]])
  const itemIn = (parent: string, item: ArchiveItem) => {
    const siblings = folders.get(parent) ?? new Map<string, ArchiveItem>()
    folders.set(parent, siblings)
    const known = siblings.get(item.name)
    // A folder wins over a file of its name, as when it is extracted.
    if (known !== undefined && (known.isDir || !item.isDir)) return known
    siblings.set(item.name, item)
    return item
  }
  for (const entry of entries) {
    const { path, is_dir: isDir, size, mtime, refusal } = entry
    // An unsafe name is shown as one name.
    const names = refusal === 'name' ? [path] : path.split('/')
    const last = names.length - 1
    for (const [index, name] of names.entries()) {
      const parent = names.slice(0, index).join('/')
      const isFolder = index < last || isDir
      const own = index === last
      const item = itemIn(parent, {
        name,
        isDir: isFolder,
        size: 0,
        fileCount: 0,
        mtime: own ? mtime : 0,
        refusal: own ? refusal : '',
      })
      if (isFolder && refusal !== 'name') {
        const key = [...names.slice(0, index), name].join('/')
        if (!folders.has(key)) folders.set(key, new Map())
      }
      if (!isDir) {
        item.size += size
        item.fileCount += 1
      }
    }
  }
  return new Map(
    Array.from(folders, ([path, items]) => [
      path,
      [...items.values()].sort((a, b) => Number(b.isDir) - Number(a.isDir) || byName.compare(a.name, b.name)),
    ]),
  )
}
