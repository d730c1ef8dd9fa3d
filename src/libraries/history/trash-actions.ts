import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LibraryInfo } from '../registry/index.ts'
import type { HistoryStores } from './history-stores.ts'
import { currentFilter, findsNothing, type TrashSearch, toViewRow } from './trash.ts'
import {
  listTrash,
  listTrashCommits,
  type TrashCommit,
  type TrashCursor,
  type TrashFilter,
  type TrashRow,
} from './trash-store.ts'

/** Commits of one person that follow each other so closely are one action: a folder that is deleted over WebDAV is many. */
const TOGETHER_SECONDS = 10
const COMMITS_PER_QUERY = 200
const ITEMS_SHOWN = 5

/** The numbers of the first and the last commit of an action. All deletions in between belong to it. */
export interface CommitRange {
  readonly firstSeq: number
  readonly lastSeq: number
}

/** What somebody deleted at once, as far as it does not exist again. */
export interface TrashAction extends CommitRange {
  readonly deletedBy: string
  /** Unix seconds; of the last commit. */
  readonly deletedAt: number
  readonly files: number
  readonly folders: number
  /** The first ones. */
  readonly items: readonly TrashRow[]
}

/** An action before its entries are read. */
export type CountedAction = Omit<TrashAction, 'items'> & { readonly since: number }

interface ActionsQuery extends TrashSearch {
  /** Actions before the one with this first commit. */
  readonly before?: number | undefined
  /** Only actions with this time or a later one, Unix seconds. */
  readonly notBefore?: number | undefined
  readonly limit: number
}

/** The actions of a trash, latest first, and whether there are more. */
export async function listTrashActions(
  stores: HistoryStores,
  library: LibraryInfo,
  query: ActionsQuery,
): Promise<{ actions: TrashAction[]; more: boolean }> {
  const { before: _before, limit, notBefore: _notBefore, ...search } = query
  const counted = await countTrashActions(stores, library, query)
  const actions: TrashAction[] = []
  for (const one of counted.slice(0, limit)) actions.push(await withItems(stores, library, search, one))
  return { actions, more: counted.length > limit }
}

/** As listTrashActions, without their entries: those of `limit`, and one more if there are more. Each is whole. */
export async function countTrashActions(
  stores: HistoryStores,
  library: LibraryInfo,
  query: ActionsQuery,
): Promise<CountedAction[]> {
  const { before, limit, notBefore = 0, ...search } = query
  if (findsNothing(stores, library, search)) return []
  const filter = await currentFilter(stores, library, search)
  const lastSeq = before === undefined ? undefined : before - 1
  const found = await readActions(stores, library, { ...filter, lastSeq }, { limit, notBefore })
  const [first] = found
  // The time of an action is that of its last commit. If that is later than the limit, an earlier page has listed it.
  const isRest =
    first !== undefined && search.to !== undefined && (await goesOn(stores, library, filter, first))
  return found.slice(isRest ? 1 : 0).slice(0, limit + 1)
}

/** An action with its first entries. */
export async function withItems(
  stores: HistoryStores,
  library: LibraryInfo,
  search: TrashSearch,
  { since: _since, ...action }: CountedAction,
): Promise<TrashAction> {
  const { firstSeq, lastSeq } = action
  const { to: _to, ...all } = search
  const items = await listTrashOfAction(
    stores,
    library,
    { ...all, firstSeq, lastSeq },
    { limit: ITEMS_SHOWN },
  )
  return { ...action, items }
}

/** Entries of one action after a cursor. */
export async function listTrashOfAction(
  stores: HistoryStores,
  library: LibraryInfo,
  search: TrashSearch,
  page: { cursor?: TrashCursor | undefined; limit: number },
): Promise<TrashRow[]> {
  if (findsNothing(stores, library, search)) return []
  const filter = await currentFilter(stores, library, search)
  const rows = await listTrash(stores.db, library.key, filter, page)
  return rows.map((row) => toViewRow(library, row))
}

/** The actions of the rows of a filter: two more than `limit`, or all. */
async function readActions(
  stores: HistoryStores,
  library: LibraryInfo,
  filter: TrashFilter,
  { limit, notBefore }: { limit: number; notBefore: number },
): Promise<CountedAction[]> {
  const actions: CountedAction[] = []
  let { lastSeq } = filter
  for (;;) {
    const commits = await listTrashCommits(stores.db, library.key, { ...filter, lastSeq }, COMMITS_PER_QUERY)
    for (const commit of commits) {
      const open = actions.at(-1)
      if (open !== undefined && isTogether(open, commit)) actions[actions.length - 1] = joined(open, commit)
      else if (actions.length > limit + 1 || commit.deletedAt < notBefore) return actions
      else actions.push(actionOf(commit))
    }
    const last = commits.at(-1)
    if (last === undefined || commits.length < COMMITS_PER_QUERY) return actions
    lastSeq = last.seq - 1
    await nextTurn()
  }
}

/** Whether later commits belong to an action, too. */
async function goesOn(
  stores: HistoryStores,
  library: LibraryInfo,
  filter: TrashFilter,
  action: CountedAction,
): Promise<boolean> {
  const { to, ...later } = filter
  const firstSeq = action.lastSeq + 1
  const range = { ...later, firstSeq, from: to === undefined ? undefined : to + 1 }
  const until = { ...range, to: action.deletedAt + TOGETHER_SECONDS }
  const commits = await listTrashCommits(stores.db, library.key, until, COMMITS_PER_QUERY)
  const next = commits.at(-1)
  return next !== undefined && next.deletedBy === action.deletedBy
}

function actionOf({ seq, deletedAt, ...rest }: TrashCommit): CountedAction {
  return { ...rest, deletedAt, since: deletedAt, firstSeq: seq, lastSeq: seq }
}

function isTogether(later: CountedAction, { deletedBy, deletedAt }: TrashCommit): boolean {
  return later.deletedBy === deletedBy && Math.abs(later.since - deletedAt) <= TOGETHER_SECONDS
}

function joined(later: CountedAction, commit: TrashCommit): CountedAction {
  return {
    ...later,
    firstSeq: commit.seq,
    since: commit.deletedAt,
    files: later.files + commit.files,
    folders: later.folders + commit.folders,
  }
}
