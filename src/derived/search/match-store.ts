import { type FsId, idFromBytes } from '../../base/objects/index.ts'
import type { Database, Dialect } from '../../platform/database/index.ts'
import { keyRows } from './keys.ts'
import type { MatchRequest } from './match-request.ts'
import { joined, number, raw, type Sql, sql } from './sql.ts'
import { planSearch, type SearchPlan, unionOf } from './subquery-store.ts'

// At most this many matches are ranked, the newest. The others follow in key order.
const MAX_RANKED = 1000

export interface Match {
  readonly key: number
  readonly name: string
  readonly isDir: boolean
  readonly objectId: FsId
  readonly size: number
  readonly mtime: number
  /** Whether its name contains all words. */
  readonly byName: boolean
  readonly hasText: boolean
}

/** A page of matches. */
interface MatchPage {
  readonly matches: Match[]
  /** The number of matches. With `isMinimum` there are at least as many, and another page. */
  readonly total: number
  readonly isMinimum: boolean
}

/** The requested page of matches. They are counted as long as they are few. */
export async function findMatches(db: Database, request: MatchRequest): Promise<MatchPage> {
  const plan = planSearch(db.dialect, request)
  const libraries = request.scope.libraries.length + request.scope.partly.length
  const none = { total: 0, isMinimum: false, matches: [] }
  if (plan.subqueries.length === 0 || libraries === 0) return none
  const found = await (plan.isNarrowed ? newestNarrowed(db, request, plan) : newestOf(db, plan))
  if (found.length === 0) return none
  const keys = found.slice(0, MAX_RANKED)
  const hasMore = found.length > MAX_RANKED
  const page = await rankedPage(db, request, keys, hasMore ? plan.first : [])
  const { matches } = page
  const { offset, limit } = request
  // An entry may be deleted between listing and counting.
  if (!hasMore)
    return {
      total: Math.max(keys.length, matches.length && offset + matches.length),
      isMinimum: false,
      matches,
    }
  const isWhole = offset + limit < page.ranked
  const lowest = Math.min(...keys)
  const rest = isWhole
    ? []
    : await unrankedPage(db, { ...request, limit: limit + 1 }, plan, { ...page, lowest })
  const all = [...matches, ...rest].slice(0, limit)
  const seen = offset + all.length
  if (isWhole || matches.length + rest.length > limit)
    return { total: Math.max(MAX_RANKED, seen) + 1, isMinimum: true, matches: all }
  return { total: all.length > 0 ? seen : await countMatches(db, plan), isMinimum: false, matches: all }
}

/** The newest matches, one more than are ranked. */
async function newestOf(db: Database, { subqueries }: SearchPlan): Promise<number[]> {
  const found = await Promise.all(
    subqueries.map(async (subquery) => {
      const some = newestKeys(sql`(${subquery({ newest: MAX_RANKED + 1 })})`)
      const row = await db.get<{ keys: string | null }>(`select ${some.text} as keys`, ...some.values)
      return parsedKeys(row?.keys)
    }),
  )
  return newestAmong(found.flat())
}

/** As newestOf, if each match has to be looked up. */
async function newestNarrowed(
  db: Database,
  request: MatchRequest,
  { subqueries, disjoint }: SearchPlan,
): Promise<number[]> {
  const slices = await request.slices()
  const parts = await Promise.all(
    slices.map(async (slice) => {
      const found = unionOf(disjoint ?? subqueries, { slice }, { disjoint: disjoint !== undefined })
      const { text, values } = newestKeys(sql`(${found})`)
      return db.get<{ keys: string | null }>(`select ${text} as keys`, ...values)
    }),
  )
  return newestAmong(parts.flatMap((part) => parsedKeys(part?.keys)))
}

function newestAmong(keys: readonly number[]): number[] {
  return [...new Set(keys)].sort((a, b) => b - a).slice(0, MAX_RANKED + 1)
}

/** As one string, because rows are expensive to pass between threads. */
function newestKeys(some: Sql): Sql {
  return sql`(select string_agg(cast(key as text), ',') from
    (select key from ${some} m order by key desc limit ${number(MAX_RANKED + 1)}) n)`
}

function parsedKeys(keys: string | null | undefined): number[] {
  return keys ? keys.split(',').map(Number) : []
}

/** For pages after the last one. */
async function countMatches(db: Database, { subqueries }: SearchPlan): Promise<number> {
  const { text, values } = sql`select count(*) as n from (${unionOf(subqueries)}) m`
  return (await db.get<{ n: number }>(text, ...values))?.n ?? 0
}

interface RankedPage {
  /** The number of ranked matches. */
  readonly ranked: number
  readonly matches: Match[]
}

async function rankedPage(
  db: Database,
  request: MatchRequest,
  keys: readonly number[],
  first: SearchPlan['first'],
): Promise<RankedPage> {
  const named = first.length === 0 ? raw('') : sql`union ${unionOf(first, { newest: MAX_RANKED })}`
  const query = sql`with hit as materialized (${keyRows(db.dialect, keys)} ${named}),
      page as materialized (select e.key, ${tierSql(db.dialect, request)} as tier
        from hit cross join search_entry e where e.key = hit.key
        order by ${orderSql(request)} limit ${number(Math.max(request.limit, 1))} offset ${number(request.offset)})
    select e.key, e.name, e.is_dir, e.object_id, e.size, e.mtime, t.entry_key as text_key, page.tier,
      (select count(*) from hit) as ranked
    from page cross join search_entry e left join search_text t on t.entry_key = e.key
    where e.key = page.key
    order by ${orderSql(request)}`
  const rows = await db.all<MatchRow & { ranked: number }>(query.text, ...query.values)
  const [row] = rows
  if (row !== undefined) return { ranked: row.ranked, matches: rows.slice(0, request.limit).map(toMatch) }
  // Beyond the last match.
  if (request.offset === 0) return { ranked: 0, matches: [] }
  const start = await rankedPage(db, { ...request, offset: 0, limit: 1 }, keys, first)
  return { ...start, matches: [] }
}

/** The matches after the ranked ones. */
async function unrankedPage(
  db: Database,
  request: MatchRequest,
  { subqueries, first }: SearchPlan,
  page: RankedPage & { readonly lowest: number },
): Promise<Match[]> {
  const offset = Math.max(request.offset - page.ranked, 0)
  const limit = request.limit - page.matches.length
  const named = unionOf(first, { newest: MAX_RANKED })
  const query = sql`select e.key, e.name, e.is_dir, e.object_id, e.size, e.mtime, t.entry_key as text_key,
      ${tierSql(db.dialect, request)} as tier
    from (select key from (${unionOf(subqueries)}) m where key < ${page.lowest}
        ${first.length === 0 ? raw('') : sql`and key not in (${named})`}
        order by key desc limit ${number(limit)} offset ${number(offset)}) hit
      cross join search_entry e left join search_text t on t.entry_key = e.key
    where e.key = hit.key order by e.key desc`
  return (await db.all<MatchRow>(query.text, ...query.values)).map(toMatch)
}

interface MatchRow {
  key: number
  name: string
  is_dir: number
  object_id: Uint8Array
  size: number
  mtime: number
  tier: number
  text_key: number | null
}

const IN_NAME = 3

function toMatch(row: MatchRow): Match {
  return {
    key: row.key,
    name: row.name,
    isDir: row.is_dir === 1,
    objectId: idFromBytes<FsId>(row.object_id),
    size: row.size,
    mtime: row.mtime,
    byName: row.tier <= IN_NAME,
    hasText: row.text_key !== null,
  }
}

// The rank of a match: equal to the query, equal except for the extension, prefix, contains all words; otherwise
// only the text matches.
function tierSql(dialect: Dialect, { query: { whole, terms } }: MatchRequest): Sql {
  const holds = (text: string) =>
    dialect === 'sqlite' ? sql`instr(e.folded, ${text}) > 0` : sql`strpos(e.folded, ${text}) > 0`
  const length = Array.from(whole).length
  const words =
    terms.length === 0
      ? holds(whole)
      : joined(
          terms.map(({ folded }) => holds(folded)),
          ' and ',
        )
  return sql`case when e.folded = ${whole} then 0
    when substr(e.folded, 1, ${length + 1}) = ${`${whole}.`} then 1
    when substr(e.folded, 1, ${length}) = ${whole} then 2
    when ${holds(whole)} or (${words}) then ${IN_NAME} else 4 end`
}

function orderSql({ order }: MatchRequest): Sql {
  return raw(order === 'rank' ? 'tier, e.mtime desc, e.key desc' : 'e.is_dir desc, e.mtime desc, e.key desc')
}
