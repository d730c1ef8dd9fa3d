import { api, CarrelError, type Entry, fetchFolder } from '../api/index.ts'
import { join } from '../paths.ts'
import { foldersOf, type Known } from './conflicts.ts'
import { toNfc } from './names.ts'

/** Above this number of folders below an existing one, the whole subtree is listed in one call. */
const MANY = 12
const AT_ONCE = 4

interface Place {
  readonly libraryId: string
  readonly path: string
}

/** Existing entries of the folders in `paths`. Folders that do not exist yet are left out. */
export async function knownFolders(target: Place, paths: readonly string[]): Promise<Known> {
  const known: Known = new Map()
  const wanted = foldersOf(paths).map(toNfc)
  known.set('', contentOf((await fetchFolder(target.libraryId, target.path)).dirent_list))
  const tops = wanted.filter((folder) => folder !== '' && !folder.includes('/') && isThere(known, folder))
  for (const top of tops) {
    const below = wanted.filter((folder) => folder === top || folder.startsWith(`${top}/`))
    if (below.length > MANY) await readWhole(target, top, known)
    else await readEach(target, below, known)
  }
  return known
}

function isThere(known: Known, folder: string): boolean {
  const cut = folder.lastIndexOf('/')
  return known.get(folder.slice(0, Math.max(0, cut)))?.get(folder.slice(cut + 1)) === 'dir'
}

async function readEach(target: Place, folders: readonly string[], known: Known): Promise<void> {
  const levels = Map.groupBy(folders, (folder) => folder.split('/').length)
  for (const [, level] of [...levels].sort(([a], [b]) => a - b)) {
    const present = level.filter((folder) => isThere(known, folder))
    for (let start = 0; start < present.length; start += AT_ONCE) {
      await Promise.all(
        present.slice(start, start + AT_ONCE).map(async (folder) => {
          const content = await contentAt(target.libraryId, join(target.path, folder))
          if (content !== undefined) known.set(folder, content)
        }),
      )
    }
  }
}

async function readWhole(target: Place, top: string, known: Known): Promise<void> {
  const path = join(target.path, top)
  const { dirent_list: all } = await api.get(`api/v2.1/repos/${target.libraryId}/dir/`, {
    p: path,
    recursive: 1,
  })
  const start = target.path === '/' ? 1 : target.path.length + 1
  known.set(top, new Map())
  for (const { type, name, parent_dir } of all) {
    const parent = parent_dir.replace(/(?!^)\/$/, '').slice(start)
    const content = known.get(parent) ?? new Map<string, 'file' | 'dir'>()
    known.set(parent, content.set(name, type))
  }
}

/** Undefined if the folder was deleted in the meantime. */
async function contentAt(libraryId: string, path: string) {
  const listing = await listed(libraryId, path)
  return listing && contentOf(listing)
}

export async function listed(libraryId: string, path: string): Promise<readonly Entry[] | undefined> {
  try {
    return (await fetchFolder(libraryId, path)).dirent_list
  } catch (error) {
    if (error instanceof CarrelError && error.status === 404) return undefined
    throw error
  }
}

function contentOf(entries: readonly Entry[]): Map<string, 'file' | 'dir'> {
  return new Map(entries.map(({ name, type }) => [name, type]))
}
