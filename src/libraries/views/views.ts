import { type DirId, EMPTY_ID, type FileId } from '../../base/objects/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import {
  encryptedSubLibraryAt,
  findSubLibraryInfos,
  locateSubLibraries,
  passwordChecksOf,
  resolveSubLibrary,
  subLibraryAt,
  type ViewStores,
} from './sub-libraries.ts'
import { listSubLibraries } from './sub-library-store.ts'

/** The parameters of a function of this module after its stores. */
type Rest<F> = F extends (stores: ViewStores, ...rest: infer R) => unknown ? R : never

/** Views of folders. Other modules get this instead of the stores. */
export class Views {
  readonly #stores: ViewStores

  constructor(stores: ViewStores) {
    this.#stores = stores
  }

  readonly findSubLibraryInfos = (...rest: Rest<typeof findSubLibraryInfos>) =>
    findSubLibraryInfos(this.#stores, ...rest)
  readonly listSubLibraries = (libraryKey: number) => listSubLibraries(this.#stores.db, libraryKey)
  readonly resolveSubLibrary = (...rest: Rest<typeof resolveSubLibrary>) =>
    resolveSubLibrary(this.#stores, ...rest)
  readonly locateSubLibraries = (...rest: Rest<typeof locateSubLibraries>) =>
    locateSubLibraries(this.#stores, ...rest)
  readonly containsFile = (...rest: Rest<typeof containsFile>) => containsFile(this.#stores, ...rest)
  readonly subLibraryAt = (...rest: Rest<typeof subLibraryAt>) => subLibraryAt(this.#stores, ...rest)
  readonly encryptedSubLibraryAt = (...rest: Rest<typeof encryptedSubLibraryAt>) =>
    encryptedSubLibraryAt(this.#stores, ...rest)
  readonly passwordChecksOf = (...rest: Rest<typeof passwordChecksOf>) =>
    passwordChecksOf(this.#stores, ...rest)
}

/**
 * Whether a library shows the file with an id. All objects of a whole library are readable. A sub-library shows only the
 * objects of its folder (I7).
 */
async function containsFile(
  { objects }: Pick<ViewStores, 'objects'>,
  info: LibraryInfo,
  file: FileId,
): Promise<boolean> {
  if (info.sub === undefined) return true
  if (info.rootDir !== undefined) return info.rootDir.dir.entries.some(({ id }) => id === file)
  const slicer = new TimeSlicer()
  const open: DirId[] = [info.root]
  const seen = new Set<DirId>(open)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (slicer.isDue) await slicer.rest()
    const { dir } = await objects.getDir(info.key, next)
    for (const entry of dir.entries) {
      if (entry.kind === 'file' && entry.id === file) return true
      if (entry.kind !== 'dir' || entry.id === EMPTY_ID || seen.has(entry.id)) continue
      seen.add(entry.id)
      open.push(entry.id)
    }
  }
  return false
}
