import { join } from '../paths.ts'
import { foldersOf, type Known } from './conflicts.ts'
import { toNfc } from './names.ts'
import type { Listed, Network } from './network.ts'

/** Above this number of folders below an existing one, the whole subtree is listed in one call. */
const MANY = 12
const AT_ONCE = 4

interface Place {
  readonly libraryId: string
  readonly path: string
}

/** The target was deleted. */
class FolderGone extends Error {
  readonly status = 404
}

/** Existing entries of the folders in `paths`. Folders that do not exist yet are left out. */
export async function knownFolders(
  network: Network,
  target: Place,
  paths: readonly string[],
): Promise<Known> {
  const known: Known = new Map()
  const wanted = foldersOf(paths).map(toNfc)
  const content = await contentAt(network, target.libraryId, target.path)
  if (content === undefined) throw new FolderGone()
  known.set('', content)
  const tops = wanted.filter((folder) => folder !== '' && !folder.includes('/') && isThere(known, folder))
  for (const top of tops) {
    const below = wanted.filter((folder) => folder === top || folder.startsWith(`${top}/`))
    if (below.length > MANY) await readWhole(network, target, top, known)
    else await readEach(network, target, below, known)
  }
  return known
}

function isThere(known: Known, folder: string): boolean {
  const cut = folder.lastIndexOf('/')
  return known.get(folder.slice(0, Math.max(0, cut)))?.get(folder.slice(cut + 1)) === 'dir'
}

async function readEach(
  network: Network,
  target: Place,
  folders: readonly string[],
  known: Known,
): Promise<void> {
  const levels = Map.groupBy(folders, (folder) => folder.split('/').length)
  for (const [, level] of [...levels].sort(([a], [b]) => a - b)) {
    const present = level.filter((folder) => isThere(known, folder))
    for (let start = 0; start < present.length; start += AT_ONCE) {
      await Promise.all(
        present.slice(start, start + AT_ONCE).map(async (folder) => {
          const content = await contentAt(network, target.libraryId, join(target.path, folder))
          if (content !== undefined) known.set(folder, content)
        }),
      )
    }
  }
}

async function readWhole(network: Network, target: Place, top: string, known: Known): Promise<void> {
  const path = join(target.path, top)
  const all = await network.listBelow(target.libraryId, path)
  const start = target.path === '/' ? 1 : target.path.length + 1
  known.set(top, new Map())
  for (const { type, name, parent_dir } of all) {
    const parent = parent_dir.replace(/(?!^)\/$/, '').slice(start)
    const content = known.get(parent) ?? new Map<string, 'file' | 'dir'>()
    known.set(parent, content.set(name, type))
  }
}

/** Undefined if the folder was deleted in the meantime. */
async function contentAt(network: Network, libraryId: string, path: string) {
  const listing = await network.list(libraryId, path)
  return listing && contentOf(listing)
}

function contentOf(entries: readonly Listed[]): Map<string, 'file' | 'dir'> {
  return new Map(entries.map(({ name, type }) => [name, type]))
}
