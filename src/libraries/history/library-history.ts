import type { LibraryInfo } from '../registry/index.ts'
import { findContentCommit, listFileHistoryFrom, listFileHistoryPage } from './file-history-pages.ts'
import { folderAsOf, folderStays } from './folder-history.ts'
import { getCommit, getCommitDetail, keepDays, listHistory } from './history.ts'
import type { HistoryStores } from './history-stores.ts'
import { listMergedTrash, listMergedTrashActions } from './merged-trash.ts'
import { findOrigin, getCommitFor, getTreeAt, getTreeAtTime, listVisitorsFiles, treeOf } from './revisions.ts'
import { findTrash, listTrashPage } from './trash.ts'
import { listTrashActions, listTrashOfAction } from './trash-actions.ts'

/** The parameters of a function of this module after its stores and the library. */
type Rest<F> = F extends (stores: HistoryStores, library: LibraryInfo, ...rest: infer R) => unknown
  ? R
  : never

/** The trash of no libraries. */
const nothing = { items: [], next: undefined }

/** History, revisions and trash of one library. A handle has it, so whoever reads has shown a right to the library (I8). */
export class LibraryHistory {
  readonly #stores: HistoryStores
  readonly #library: LibraryInfo

  constructor(stores: HistoryStores, library: LibraryInfo) {
    this.#stores = stores
    this.#library = library
  }

  /** See `listMergedTrash`. */
  static async mergedTrash(
    histories: readonly LibraryHistory[],
    query: Parameters<typeof listMergedTrash>[2],
  ) {
    const [stores, libraries] = LibraryHistory.#all(histories)
    return stores === undefined ? nothing : listMergedTrash(stores, libraries, query)
  }

  /** See `listMergedTrashActions`. */
  static async mergedTrashActions(
    histories: readonly LibraryHistory[],
    query: Parameters<typeof listMergedTrashActions>[2],
  ) {
    const [stores, libraries] = LibraryHistory.#all(histories)
    return stores === undefined ? nothing : listMergedTrashActions(stores, libraries, query)
  }

  static #all(histories: readonly LibraryHistory[]): [HistoryStores | undefined, LibraryInfo[]] {
    const all = histories.map((one) => [one.#stores, one.#library] as const)
    return [all[0]?.[0], all.map(([, library]) => library)]
  }

  listFileHistoryFrom(...rest: Rest<typeof listFileHistoryFrom>) {
    return listFileHistoryFrom(this.#stores, this.#library, ...rest)
  }

  listFileHistoryPage(...rest: Rest<typeof listFileHistoryPage>) {
    return listFileHistoryPage(this.#stores, this.#library, ...rest)
  }

  findContentCommit(...rest: Rest<typeof findContentCommit>) {
    return findContentCommit(this.#stores, this.#library, ...rest)
  }

  folderAsOf(...rest: Rest<typeof folderAsOf>) {
    return folderAsOf(this.#stores, this.#library, ...rest)
  }

  folderStays(...rest: Rest<typeof folderStays>) {
    return folderStays(this.#stores, this.#library, ...rest)
  }

  getCommit(...rest: Rest<typeof getCommit>) {
    return getCommit(this.#stores, this.#library, ...rest)
  }

  getCommitDetail(...rest: Rest<typeof getCommitDetail>) {
    return getCommitDetail(this.#stores, this.#library, ...rest)
  }

  keepDays(...rest: Rest<typeof keepDays>) {
    return keepDays(this.#stores, this.#library, ...rest)
  }

  listHistory(...rest: Rest<typeof listHistory>) {
    return listHistory(this.#stores, this.#library, ...rest)
  }

  findOrigin(...rest: Rest<typeof findOrigin>) {
    return findOrigin(this.#stores, this.#library, ...rest)
  }

  listVisitorsFiles(...rest: Rest<typeof listVisitorsFiles>) {
    return listVisitorsFiles(this.#stores, this.#library, ...rest)
  }

  getCommitFor(...rest: Rest<typeof getCommitFor>) {
    return getCommitFor(this.#stores, this.#library, ...rest)
  }

  getTreeAt(...rest: Rest<typeof getTreeAt>) {
    return getTreeAt(this.#stores, this.#library, ...rest)
  }

  getTreeAtTime(...rest: Rest<typeof getTreeAtTime>) {
    return getTreeAtTime(this.#stores, this.#library, ...rest)
  }

  treeOf(...rest: Rest<typeof treeOf>) {
    return treeOf(this.#stores, this.#library, ...rest)
  }

  findTrash(...rest: Rest<typeof findTrash>) {
    return findTrash(this.#stores, this.#library, ...rest)
  }

  listTrashActions(...rest: Rest<typeof listTrashActions>) {
    return listTrashActions(this.#stores, this.#library, ...rest)
  }

  listTrashOfAction(...rest: Rest<typeof listTrashOfAction>) {
    return listTrashOfAction(this.#stores, this.#library, ...rest)
  }

  listTrashPage(...rest: Rest<typeof listTrashPage>) {
    return listTrashPage(this.#stores, this.#library, ...rest)
  }
}
