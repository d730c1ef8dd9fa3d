import type { LibraryId } from '../../base/objects/index.ts'
import { isWithin, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { AdministeredLibrary } from '../../libraries/library/index.ts'
import { asSeen, baseOf, inOrigin, type LibraryInfo } from '../../libraries/registry/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { isUsable, type Link } from './link.ts'
import { countLinksByLibrary, listLinksIn } from './link-store.ts'
import { countSharesByLibrary, isShareExpired, listSharesIn, type PlacedShare } from './share-store.ts'

/** Where something is granted, seen from the item in question. */
type Relation = 'here' | 'above' | 'below'

/** A share or a link by which an item, or something in it, can be seen. */
type Reaching<T> = T & {
  /** As the library shows it. What is above a shared folder is its root. */
  readonly at: LibraryPath
  readonly relation: Relation
}

/** Everything by which an item can be seen, besides its owner. */
export interface AccessList {
  readonly shares: readonly Reaching<PlacedShare>[]
  readonly links: readonly Reaching<Link>[]
  /** Whether something is left out, because the library has too many shares or links. */
  readonly isCut: boolean
}

/** By what a library of an account can be seen, in numbers. */
export interface AccessSummary {
  readonly id: LibraryId
  /** Shares of the whole library. */
  readonly shares: number
  /** Shares of folders and files in it. */
  readonly inside: number
  /** Links to it or to something in it, of any account. */
  readonly links: number
}

/** Rows read of one library, of one query, and rows listed. What is listed last is furthest below. */
const MAX_READ = 10_000
const ROWS_PER_QUERY = 500
const MAX_LISTED = 500

const ORDER: readonly Relation[] = ['here', 'above', 'below']

/**
 * Lists the shares and links that are in effect on an item, on folders above it, and on what is below it. Links count only while they
 * work by themselves: what their creator may do now is not checked.
 */
export async function listAccess(
  db: Database,
  { info }: AdministeredLibrary,
  path: LibraryPath,
  now: number,
): Promise<AccessList> {
  const place = inOrigin(info, path)
  const shares = await reaching(
    info,
    place,
    (last: PlacedShare | undefined, limit) => listSharesIn(db, info.key, { after: last?.cursor, limit }),
    (share) => (isShareExpired(share, now) ? undefined : share.path),
  )
  const links = await reaching(
    info,
    place,
    (last: Link | undefined, limit) => listLinksIn(db, info.key, { after: last?.key ?? 0, limit }),
    (link) => (isUsable(link, now) ? link.place : undefined),
  )
  return { shares: shares.found, links: links.found, isCut: shares.isCut || links.isCut }
}

/** What of the rows of all pages reaches an item. `pathOf` a row that is not in effect is undefined. */
async function reaching<T extends { readonly createdAt: number }>(
  info: LibraryInfo,
  place: LibraryPath,
  pageAfter: (last: T | undefined, limit: number) => Promise<readonly T[]>,
  pathOf: (one: T) => LibraryPath | undefined,
): Promise<{ found: Reaching<T>[]; isCut: boolean }> {
  const found: Reaching<T>[] = []
  const slicer = new TimeSlicer()
  let read = 0
  for (let page = await pageAfter(undefined, ROWS_PER_QUERY); page.length > 0; ) {
    read += page.length
    for (const one of page) {
      const path = pathOf(one)
      const relation = path && relationOf(path, place)
      // A manager of a shared folder is not told the names of folders above it.
      const at = path && (asSeen(info, path) ?? (isWithin(baseOf(info), path) ? ROOT : undefined))
      if (relation !== undefined && at !== undefined) found.push({ ...one, at, relation })
    }
    if (slicer.isDue) await slicer.rest()
    if (page.length < ROWS_PER_QUERY || read >= MAX_READ) break
    page = await pageAfter(page.at(-1), ROWS_PER_QUERY)
  }
  found.sort(
    (a, b) =>
      ORDER.indexOf(a.relation) - ORDER.indexOf(b.relation) ||
      a.at.length - b.at.length ||
      a.createdAt - b.createdAt,
  )
  return { found: found.slice(0, MAX_LISTED), isCut: read >= MAX_READ || found.length > MAX_LISTED }
}

function relationOf(granted: LibraryPath, place: LibraryPath): Relation | undefined {
  if (granted === place) return 'here'
  if (isWithin(place, granted)) return 'above'
  return isWithin(granted, place) ? 'below' : undefined
}

/** The libraries of an account that somebody else can see, wholly or in part. One query for shares and one for links. */
export async function summarizeAccess(db: Database, owner: Account, now: number): Promise<AccessSummary[]> {
  const [shares, links] = await Promise.all([
    countSharesByLibrary(db, owner.key, now),
    countLinksByLibrary(db, owner.key, now),
  ])
  const found = new Map<LibraryId, AccessSummary>()
  for (const { id, whole, inside } of shares) found.set(id, { id, shares: whole, inside, links: 0 })
  for (const { id, links: count } of links) {
    found.set(id, { ...(found.get(id) ?? { id, shares: 0, inside: 0 }), links: count })
  }
  return [...found.values()]
}
