import { findContentCommit, listFileHistoryFrom, listFileHistoryPage } from './file-history-pages.ts'
import { folderAsOf, folderStays } from './folder-history.ts'
import { getCommit, getCommitDetail, keepDays, listHistory } from './history.ts'
import type { HistoryStores } from './history-stores.ts'
import { listMergedTrash, listMergedTrashActions } from './merged-trash.ts'
import { findOrigin, getCommitFor, getTreeAt, getTreeAtTime, listVisitorsFiles, treeOf } from './revisions.ts'
import { findTrash, listTrashPage } from './trash.ts'
import { listTrashActions, listTrashOfAction } from './trash-actions.ts'

/** The parameters of a function of this module after its stores. */
type Rest<F> = F extends (stores: HistoryStores, ...rest: infer R) => unknown ? R : never

/** History, revisions and trash of libraries. Other modules get this instead of the stores. */
export class HistoryReader {
  readonly #stores: HistoryStores

  constructor(stores: HistoryStores) {
    this.#stores = stores
  }

  readonly listFileHistoryFrom = (...rest: Rest<typeof listFileHistoryFrom>) =>
    listFileHistoryFrom(this.#stores, ...rest)
  readonly listFileHistoryPage = (...rest: Rest<typeof listFileHistoryPage>) =>
    listFileHistoryPage(this.#stores, ...rest)
  readonly findContentCommit = (...rest: Rest<typeof findContentCommit>) =>
    findContentCommit(this.#stores, ...rest)
  readonly folderAsOf = (...rest: Rest<typeof folderAsOf>) => folderAsOf(this.#stores, ...rest)
  readonly folderStays = (...rest: Rest<typeof folderStays>) => folderStays(this.#stores, ...rest)
  readonly getCommit = (...rest: Rest<typeof getCommit>) => getCommit(this.#stores, ...rest)
  readonly getCommitDetail = (...rest: Rest<typeof getCommitDetail>) => getCommitDetail(this.#stores, ...rest)
  readonly keepDays = (...rest: Rest<typeof keepDays>) => keepDays(this.#stores, ...rest)
  readonly listHistory = (...rest: Rest<typeof listHistory>) => listHistory(this.#stores, ...rest)
  readonly findOrigin = (...rest: Rest<typeof findOrigin>) => findOrigin(this.#stores, ...rest)
  readonly listVisitorsFiles = (...rest: Rest<typeof listVisitorsFiles>) =>
    listVisitorsFiles(this.#stores, ...rest)
  readonly getCommitFor = (...rest: Rest<typeof getCommitFor>) => getCommitFor(this.#stores, ...rest)
  readonly getTreeAt = (...rest: Rest<typeof getTreeAt>) => getTreeAt(this.#stores, ...rest)
  readonly getTreeAtTime = (...rest: Rest<typeof getTreeAtTime>) => getTreeAtTime(this.#stores, ...rest)
  readonly treeOf = (...rest: Rest<typeof treeOf>) => treeOf(this.#stores, ...rest)
  readonly findTrash = (...rest: Rest<typeof findTrash>) => findTrash(this.#stores, ...rest)
  readonly listMergedTrash = (...rest: Rest<typeof listMergedTrash>) => listMergedTrash(this.#stores, ...rest)
  readonly listMergedTrashActions = (...rest: Rest<typeof listMergedTrashActions>) =>
    listMergedTrashActions(this.#stores, ...rest)
  readonly listTrashActions = (...rest: Rest<typeof listTrashActions>) =>
    listTrashActions(this.#stores, ...rest)
  readonly listTrashOfAction = (...rest: Rest<typeof listTrashOfAction>) =>
    listTrashOfAction(this.#stores, ...rest)
  readonly listTrashPage = (...rest: Rest<typeof listTrashPage>) => listTrashPage(this.#stores, ...rest)
}
