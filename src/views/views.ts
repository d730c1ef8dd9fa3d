import { containsFile } from './contains-file.ts'
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
