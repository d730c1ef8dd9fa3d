import type { Database, Dialect } from '../database/index.ts'
import { type FsId, idFromBytes } from '../objects/index.ts'
import { type ArmBounds, isEverything, type Sought, soughtBy, unionOf } from './arm-store.ts'
import { keyRows } from './key-list.ts'
import { namesWithLetter } from './letter-store.ts'
import type { MatchWish } from './match-wish.ts'
import { joined, number, raw, type Sql, sql } from './sql.ts'

// Of more matches than this the newest are ranked; what is beyond follows in the order it came.
const MOST_RANKED = 1000

export interface Match {
  readonly key: number
  readonly name: string
  readonly isDir: boolean
  readonly objectId: FsId
  readonly size: number
  readonly mtime: number
  /** Whether its name holds all that was asked for. */
  readonly byName: boolean
  readonly hasText: boolean
}

/** What matches, in order, and how many do. */
export async function findMatches(
  db: Database,
  wish: MatchWish,
): Promise<{ total: number; matches: Match[] }> {
  const sought = soughtBy(db.dialect, wish)
  const libraries = wish.scope.libraries.length + wish.scope.partly.length
  if (sought.arms.length === 0 || libraries === 0) return { total: 0, matches: [] }
  const newest = await (sought.isNarrowed ? newestNarrowed(db, wish, sought) : newestOf(db, sought))
  const { keys } = newest
  if (keys.length === 0) return { total: 0, matches: [] }
  // What is counted is looked through on all threads there are, one of which puts the page together meanwhile.
  const [page, total] = await Promise.all([
    rankedPage(db, wish, keys, keys.length < MOST_RANKED ? [] : sought.first),
    newest.total ?? countMatches(db, wish, sought),
  ])
  const isWhole = wish.offset + wish.limit <= page.ranked || page.ranked >= total
  const rest = isWhole ? [] : await unrankedPage(db, wish, sought, { ...page, lowest: Math.min(...keys) })
  const matches = [...page.matches, ...rest]
  // Something may have gone after it was shown and before it was counted.
  return { total: matches.length === 0 ? total : Math.max(total, wish.offset + matches.length), matches }
}

/** The newest matches; and how many there are, where that is known without counting. */
interface Newest {
  readonly keys: readonly number[]
  readonly total: number | undefined
}

async function newestOf(db: Database, { arms }: Sought): Promise<Newest> {
  const found = await Promise.all(
    arms.map(async (arm) => {
      const some = newestKeys(sql`(${arm({ newest: MOST_RANKED })})`)
      const row = await db.get<{ keys: string | null }>(`select ${some.text} as keys`, ...some.values)
      return parsedKeys(row?.keys)
    }),
  )
  const keys = [...new Set(found.flat())].sort((a, b) => b - a).slice(0, MOST_RANKED)
  return { keys, total: keys.length < MOST_RANKED ? keys.length : undefined }
}

/** All that matches has to be looked up, and is then counted, too. */
async function newestNarrowed(db: Database, wish: MatchWish, { arms, apart }: Sought): Promise<Newest> {
  const slices = await wish.slices(2)
  const parts = await Promise.all(
    slices.map((slice) => {
      const found = unionOf(apart ?? arms, { slice }, { apart: apart !== undefined })
      const query = sql`with found as materialized (${found})
        select (select count(*) from found) as n, ${newestKeys(raw('found'))} as keys`
      return db.get<{ n: number; keys: string | null }>(query.text, ...query.values)
    }),
  )
  const keys = parts.flatMap((part) => parsedKeys(part?.keys)).sort((a, b) => b - a)
  return { keys: keys.slice(0, MOST_RANKED), total: parts.reduce((sum, part) => sum + (part?.n ?? 0), 0) }
}

/** As one text: a row for each would be far more to hand from thread to thread. */
function newestKeys(some: Sql): Sql {
  return sql`(select string_agg(cast(key as text), ',') from
    (select key from ${some} m order by key desc limit ${number(MOST_RANKED)}) n)`
}

function parsedKeys(keys: string | null | undefined): number[] {
  return keys ? keys.split(',').map(Number) : []
}

async function countMatches(db: Database, wish: MatchWish, { arms, apart, letter }: Sought): Promise<number> {
  if (letter !== undefined && apart !== undefined) {
    const [, texts] = arms
    const [, textsWithout] = apart
    const names = namesWithLetter(db, letter, wish.scope)
    if (texts === undefined || textsWithout === undefined) return sum(db, [names])
    // Few letters are words of a text; that a name has one costs far more to find out.
    const isWord = sql`exists (select 1 from (${texts({ newest: 1 })}) w)`
    return sum(db, [sql`${names} + (case when ${isWord} then ${counted(textsWithout())} else 0 end)`])
  }
  // Two threads have four things to do, of which the page is one.
  const slices = await wish.slices(3)
  const everything = db.dialect === 'sqlite' ? isEverything(wish.scope) : undefined
  const countIn = (bounds: ArmBounds) =>
    apart === undefined
      ? counted(unionOf(arms, bounds))
      : joined(
          apart.map((arm) => counted(arm(bounds))),
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

/** The sum of numbers, each of them had by a statement of its own, side by side. */
async function sum(db: Database, numbers: readonly Sql[]): Promise<number> {
  const rows = await Promise.all(
    numbers.map(({ text, values }) => db.get<{ n: number }>(`select ${text} as n`, ...values)),
  )
  return rows.reduce((all, row) => all + (row?.n ?? 0), 0)
}

interface RankedPage {
  /** How many are ranked, for being new or for their name. */
  readonly ranked: number
  readonly matches: Match[]
}

async function rankedPage(
  db: Database,
  wish: MatchWish,
  keys: readonly number[],
  first: Sought['first'],
): Promise<RankedPage> {
  const named = first.length === 0 ? raw('') : sql`union ${unionOf(first, { newest: MOST_RANKED })}`
  const query = sql`with hit as materialized (${keyRows(db.dialect, keys)} ${named}),
      page as materialized (select e.key, ${tierSql(db.dialect, wish)} as tier
        from hit cross join search_entry e where e.key = hit.key
        order by ${orderSql(wish)} limit ${number(Math.max(wish.limit, 1))} offset ${number(wish.offset)})
    select e.key, e.name, e.is_dir, e.object_id, e.size, e.mtime, t.entry_key as text_key, page.tier,
      (select count(*) from hit) as ranked
    from page cross join search_entry e left join search_text t on t.entry_key = e.key
    where e.key = page.key
    order by ${orderSql(wish)}`
  const rows = await db.all<MatchRow & { ranked: number }>(query.text, ...query.values)
  const [row] = rows
  if (row !== undefined) return { ranked: row.ranked, matches: rows.slice(0, wish.limit).map(toMatch) }
  // Beyond the last one.
  if (wish.offset === 0) return { ranked: 0, matches: [] }
  const start = await rankedPage(db, { ...wish, offset: 0, limit: 1 }, keys, first)
  return { ...start, matches: [] }
}

/** What comes after all that is ranked. */
async function unrankedPage(
  db: Database,
  wish: MatchWish,
  { arms, first }: Sought,
  page: RankedPage & { readonly lowest: number },
): Promise<Match[]> {
  const offset = Math.max(wish.offset - page.ranked, 0)
  const limit = wish.limit - page.matches.length
  const named = unionOf(first, { newest: MOST_RANKED })
  const query = sql`select e.key, e.name, e.is_dir, e.object_id, e.size, e.mtime, t.entry_key as text_key,
      ${tierSql(db.dialect, wish)} as tier
    from (select key from (${unionOf(arms)}) m where key < ${page.lowest}
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

// How well a name fits: it is what was asked for, or is but for its extension, begins with it, holds every word; or
// it is the text that does.
function tierSql(dialect: Dialect, { query: { whole, terms } }: MatchWish): Sql {
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

function orderSql({ order }: MatchWish): Sql {
  return raw(order === 'rank' ? 'tier, e.mtime desc, e.key desc' : 'e.is_dir desc, e.mtime desc, e.key desc')
}
