import { showsFile } from './contains-file.ts'
import {
  findSubLibraryInfos,
  lookThrough,
  settleSubLibraries,
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
  readonly lookThrough = (...rest: Rest<typeof lookThrough>) => lookThrough(this.#stores, ...rest)
  readonly settleSubLibraries = (...rest: Rest<typeof settleSubLibraries>) =>
    settleSubLibraries(this.#stores, ...rest)
  readonly showsFile = (...rest: Rest<typeof showsFile>) => showsFile(this.#stores, ...rest)
  readonly subLibraryAt = (...rest: Rest<typeof subLibraryAt>) => subLibraryAt(this.#stores, ...rest)
}
