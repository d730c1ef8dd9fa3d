import type { Database, Dialect } from '../database/index.ts'
import { type FsId, idFromBytes } from '../objects/index.ts'
import { namesWithLetter } from './character-count-store.ts'
import { keyRows } from './key-list.ts'
import type { MatchRequest } from './match-request.ts'
import { joined, number, raw, type Sql, sql } from './sql.ts'
import { isEverything, planSearch, type SearchPlan, type SubqueryBounds, unionOf } from './subquery-store.ts'

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

/** The requested page of matches, and their number. */
export async function findMatches(
  db: Database,
  request: MatchRequest,
): Promise<{ total: number; matches: Match[] }> {
  const plan = planSearch(db.dialect, request)
  const libraries = request.scope.libraries.length + request.scope.partly.length
  if (plan.subqueries.length === 0 || libraries === 0) return { total: 0, matches: [] }
  const newest = await (plan.isNarrowed ? newestNarrowed(db, request, plan) : newestOf(db, plan))
  const { keys } = newest
  if (keys.length === 0) return { total: 0, matches: [] }
  // Counting uses all reader threads. One of them loads the page meanwhile.
  const [page, total] = await Promise.all([
    rankedPage(db, request, keys, keys.length < MAX_RANKED ? [] : plan.first),
    newest.total ?? countMatches(db, request, plan),
  ])
  const isWhole = request.offset + request.limit <= page.ranked || page.ranked >= total
  const rest = isWhole ? [] : await unrankedPage(db, request, plan, { ...page, lowest: Math.min(...keys) })
  const matches = [...page.matches, ...rest]
  // An entry may be deleted between listing and counting.
  return { total: matches.length === 0 ? total : Math.max(total, request.offset + matches.length), matches }
}

/** The newest matches, and their number if it is known without counting. */
interface Newest {
  readonly keys: readonly number[]
  readonly total: number | undefined
}

async function newestOf(db: Database, { subqueries }: SearchPlan): Promise<Newest> {
  const found = await Promise.all(
    subqueries.map(async (subquery) => {
      const some = newestKeys(sql`(${subquery({ newest: MAX_RANKED })})`)
      const row = await db.get<{ keys: string | null }>(`select ${some.text} as keys`, ...some.values)
      return parsedKeys(row?.keys)
    }),
  )
  const keys = [...new Set(found.flat())].sort((a, b) => b - a).slice(0, MAX_RANKED)
  return { keys, total: keys.length < MAX_RANKED ? keys.length : undefined }
}

/** Looks up all matches and counts them on the way. */
async function newestNarrowed(
  db: Database,
  request: MatchRequest,
  { subqueries, disjoint }: SearchPlan,
): Promise<Newest> {
  const slices = await request.slices(2)
  const parts = await Promise.all(
    slices.map((slice) => {
      const found = unionOf(disjoint ?? subqueries, { slice }, { disjoint: disjoint !== undefined })
      const query = sql`with found as materialized (${found})
        select (select count(*) from found) as n, ${newestKeys(raw('found'))} as keys`
      return db.get<{ n: number; keys: string | null }>(query.text, ...query.values)
    }),
  )
  const keys = parts.flatMap((part) => parsedKeys(part?.keys)).sort((a, b) => b - a)
  return { keys: keys.slice(0, MAX_RANKED), total: parts.reduce((sum, part) => sum + (part?.n ?? 0), 0) }
}

/** As one string, because rows are expensive to pass between threads. */
function newestKeys(some: Sql): Sql {
  return sql`(select string_agg(cast(key as text), ',') from
    (select key from ${some} m order by key desc limit ${number(MAX_RANKED)}) n)`
}

function parsedKeys(keys: string | null | undefined): number[] {
  return keys ? keys.split(',').map(Number) : []
}

async function countMatches(
  db: Database,
  request: MatchRequest,
  { subqueries, disjoint, letter }: SearchPlan,
): Promise<number> {
  if (letter !== undefined && disjoint !== undefined) {
    const [, texts] = subqueries
    const [, textsWithout] = disjoint
    const names = namesWithLetter(db, letter, request.scope)
    if (texts === undefined || textsWithout === undefined) return sum(db, [names])
    // Few texts contain a single letter as a word, while most names contain it.
    const isWord = sql`exists (select 1 from (${texts({ newest: 1 })}) w)`
    return sum(db, [sql`${names} + (case when ${isWord} then ${counted(textsWithout())} else 0 end)`])
  }
  // Two threads run four statements, one of which is the page.
  const slices = await request.slices(3)
  const everything = db.dialect === 'sqlite' ? isEverything(request.scope) : undefined
  const countIn = (bounds: SubqueryBounds) =>
    disjoint === undefined
      ? counted(unionOf(subqueries, bounds))
      : joined(
          disjoint.map((subquery) => counted(subquery(bounds))),
          ' + ',
        )
  return sum(
    db,
    slices.map((slice) =>
      everything === undefined
        ? countIn({ slice })
        : sql`case when ${everything} then ${countIn({ slice, isEverything: true })} else ${countIn({ slice })} end`,
    ),
  )
}

const counted = (part: Sql) => sql`(select count(*) from (${part}) m)`

/** The sum of counts, each from its own statement, in parallel. */
async function sum(db: Database, numbers: readonly Sql[]): Promise<number> {
  const rows = await Promise.all(
    numbers.map(({ text, values }) => db.get<{ n: number }>(`select ${text} as n`, ...values)),
  )
  return rows.reduce((all, row) => all + (row?.n ?? 0), 0)
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
