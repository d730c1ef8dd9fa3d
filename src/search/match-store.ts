import type { Database, Dialect, Value } from '../database/database.ts'
import { type FsId, idFromBytes } from '../objects/ids.ts'
import {
  type Expression,
  libraryToken,
  namesThatAre,
  namesWith,
  namesWithWords,
  rendered,
  textsByWord,
  textsExcluded,
  textsWithWords,
} from './expression.ts'
import { keysIn } from './key-list.ts'
import { keyRangeOf, libraryKeySql } from './keys.ts'
import type { Query } from './query.ts'

// Of more matches than this the newest are ranked; what is beyond follows in the order it came.
const MOST_RANKED = 4000
// For so few libraries each is looked up by itself; for more, all matches are gone through.
const FEW_LIBRARIES = 16

/** Where to look: whole libraries, and folders of others. */
export interface Scope {
  readonly libraries: readonly number[]
  /** Libraries of which only `folders` are looked at. */
  readonly partly: readonly number[]
  /** Keys of folders; what is in them and below them counts, they themselves do not. */
  readonly folders: readonly number[]
}

export interface Filters {
  readonly kind?: 'dir' | 'file' | undefined
  /** In lower case; only files with one of them count. */
  readonly extensions?: readonly string[] | undefined
  readonly time?: Bounds | undefined
  readonly size?: Bounds | undefined
}

/** Both ends belong to it. */
export interface Bounds {
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export interface MatchWish {
  readonly query: Query
  readonly scope: Scope
  readonly filters: Filters
  /** `names`: words are looked for in names only. `part`: names that hold the text as it is. */
  readonly where: 'everywhere' | 'names' | 'part'
  /** `rank`: exact names, then names, then texts, each newest first. `listing`: folders first, each newest first. */
  readonly order: 'rank' | 'listing'
  readonly offset: number
  readonly limit: number
}

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

/** A piece of SQL and its parameters, which stay together. */
interface Sql {
  readonly text: string
  readonly values: readonly Value[]
}

function sql(parts: readonly string[], ...values: readonly (Value | Sql)[]): Sql {
  let text = parts[0] ?? ''
  const flat: Value[] = []
  for (const [index, value] of values.entries()) {
    const isSql = typeof value === 'object' && value !== null && 'text' in value
    text += (isSql ? value.text : '?') + (parts[index + 1] ?? '')
    flat.push(...(isSql ? value.values : [value]))
  }
  return { text, values: flat }
}

const raw = (text: string): Sql => ({ text, values: [] })

function joined(parts: readonly Sql[], by: string): Sql {
  return { text: parts.map(({ text }) => text).join(by), values: parts.flatMap(({ values }) => values) }
}

/** What matches, in order, and how many do. */
export async function findMatches(
  db: Database,
  wish: MatchWish,
): Promise<{ total: number; matches: Match[] }> {
  const hits = hitsOf(db.dialect, wish)
  const libraries = wish.scope.libraries.length + wish.scope.partly.length
  if (hits === undefined || libraries === 0) return { total: 0, matches: [] }
  const rows = rowFilter(db.dialect, wish)
  const exact = wish.order === 'rank' ? exactHits(db.dialect, wish) : undefined
  const page = await rankedPage(db, wish, hits, rows, exact)
  if (page.counted < MOST_RANKED) return { total: page.counted, matches: page.matches }
  const total = await count(db, hits, rows)
  const { offset, limit } = wish
  if (offset + limit <= page.ranked) return { total, matches: page.matches }
  const rest = await unrankedPage(db, wish, hits, rows, page)
  return { total, matches: [...page.matches, ...rest] }
}

interface RankedPage {
  /** How many of the matches are ranked for being new. */
  readonly counted: number
  /** How many are ranked, those with an exact name among them. */
  readonly ranked: number
  /** The lowest key of those ranked for being new. */
  readonly lowest: number
  readonly matches: Match[]
}

async function rankedPage(
  db: Database,
  wish: MatchWish,
  hits: Sql,
  rows: Sql | undefined,
  exact: Sql | undefined,
): Promise<RankedPage> {
  const newest = sql`select key from (${filtered(hits, rows)}) m order by key desc limit ${MOST_RANKED}`
  const named = exact === undefined ? raw('') : sql`union select key from (${filtered(exact, rows)}) x`
  const query = sql`with newest as materialized (${newest}),
      hit as materialized (select key from newest ${named})
    select e.key, e.name, e.is_dir, e.object_id, e.size, e.mtime, t.entry_key as text_key,
      ${tierSql(db.dialect, wish)} as tier,
      (select count(*) from newest) as counted, (select count(*) from hit) as ranked,
      (select min(key) from newest) as lowest
    from hit cross join search_entry e left join search_text t on t.entry_key = e.key
    where e.key = hit.key
    order by ${orderSql(wish)} limit ${Math.max(wish.limit, 1)} offset ${wish.offset}`
  const found = await db.all<MatchRow & Omit<RankedPage, 'matches'>>(query.text, ...query.values)
  const [first] = found
  if (first !== undefined) {
    const { counted, ranked, lowest } = first
    return { counted, ranked, lowest, matches: found.slice(0, wish.limit).map(toMatch) }
  }
  // Beyond the last one, or there is none.
  if (wish.offset === 0) return { counted: 0, ranked: 0, lowest: 0, matches: [] }
  const start = await rankedPage(db, { ...wish, offset: 0, limit: 1 }, hits, rows, exact)
  return { ...start, matches: [] }
}

/** What comes after all that is ranked. */
async function unrankedPage(
  db: Database,
  wish: MatchWish,
  hits: Sql,
  rows: Sql | undefined,
  page: RankedPage,
): Promise<Match[]> {
  const offset = Math.max(wish.offset - page.ranked, 0)
  const limit = wish.limit - page.matches.length
  const exact = wish.order === 'rank' ? exactHits(db.dialect, wish) : undefined
  const query = sql`select e.key, e.name, e.is_dir, e.object_id, e.size, e.mtime, t.entry_key as text_key,
      ${tierSql(db.dialect, wish)} as tier
    from (select key from (${filtered(hits, rows)}) m where key < ${page.lowest}
        ${exact === undefined ? raw('') : sql`and key not in (select key from (${exact}) x)`}
        order by key desc limit ${limit} offset ${offset}) hit
      cross join search_entry e left join search_text t on t.entry_key = e.key
    where e.key = hit.key order by e.key desc`
  return (await db.all<MatchRow>(query.text, ...query.values)).map(toMatch)
}

async function count(db: Database, hits: Sql, rows: Sql | undefined): Promise<number> {
  const query = sql`select count(*) as n from (${filtered(hits, rows)}) m`
  return (await db.get<{ n: number }>(query.text, ...query.values))?.n ?? 0
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

/** The keys of all that matches, as far as the indexes can tell. Undefined if nothing can. */
function hitsOf(dialect: Dialect, { query, scope, filters, where }: MatchWish): Sql | undefined {
  const { extensions } = filters
  const whole = namesWith(query.whole, extensions)
  if (where === 'part') return whole && nameHits(dialect, whole, scope)
  const arms: Sql[] = []
  const names = namesWithWords(query, extensions)
  const excluded = where === 'everywhere' ? textsExcluded(query) : undefined
  if (names !== undefined) {
    const found = nameHits(dialect, names, scope)
    const but = excluded && bodyHits(dialect, excluded, scope)
    arms.push(but === undefined ? found : sql`select key from (${found}) f except select key from (${but}) b`)
  }
  const [term, ...more] = query.terms
  const isPlain = more.length === 0 && query.excluded.length === 0 && term?.folded === query.whole
  if (whole !== undefined && !isPlain) arms.push(nameHits(dialect, whole, scope))
  const texts =
    where === 'everywhere' && filters.kind !== 'dir' ? textArms(dialect, query, extensions, scope) : []
  const all = [...arms, ...texts]
  return all.length === 0
    ? undefined
    : joined(
        all.map((arm) => sql`select key from (${arm}) a`),
        ' union ',
      )
}

function exactHits(dialect: Dialect, { query, scope, filters }: MatchWish): Sql | undefined {
  const expression = namesThatAre(query.whole, filters.extensions)
  return expression && nameHits(dialect, expression, scope)
}

function nameHits(dialect: Dialect, expression: Expression, scope: Scope): Sql {
  if (dialect === 'sqlite') return fts5Hits('search_name', expression, scope)
  const [only, ...more] = [...scope.libraries, ...scope.partly]
  const within =
    more.length === 0 && only !== undefined
      ? { phrase: { tokens: [libraryToken(only)], prefix: false } }
      : undefined
  const sought = within === undefined ? expression : { all: [expression, within] }
  return sql`select key from search_entry where grams @@ ${rendered(sought, dialect)}::tsquery
    and ${inLibraries(dialect, 'key', scope)}`
}

function bodyHits(dialect: Dialect, expression: Expression, scope: Scope): Sql {
  if (dialect === 'sqlite') return fts5Hits('search_body', expression, scope)
  return sql`select entry_key as key from search_body where tokens @@ ${rendered(expression, dialect)}::tsquery
    and ${inLibraries(dialect, 'entry_key', scope)}`
}

function textArms(
  dialect: Dialect,
  query: Query,
  extensions: readonly string[] | undefined,
  scope: Scope,
): Sql[] {
  const texts = textsWithWords(query, extensions)
  if (texts === undefined) return []
  if (dialect === 'sqlite') return [fts5Hits('search_body', texts, scope)]
  const whole = sql`select entry_key as key from search_body where is_whole = 1
    and tokens @@ ${rendered(texts, dialect)}::tsquery and ${inLibraries(dialect, 'entry_key', scope)}`
  return [whole, partedTexts(query, extensions, scope)].filter((arm) => arm !== undefined)
}

/** Texts in several rows: each word may be in another. */
function partedTexts(query: Query, extensions: readonly string[] | undefined, scope: Scope): Sql | undefined {
  const byWord = textsByWord(query, extensions)
  if (byWord === undefined) return undefined
  const holds = (expression: Expression) =>
    sql`bool_or(tokens @@ ${rendered(expression, 'postgres')}::tsquery)`
  const conditions = [
    ...byWord.words.map(holds),
    ...byWord.excluded.map((expression) => sql`not ${holds(expression)}`),
  ]
  const any = rendered({ any: [...byWord.words, ...byWord.excluded] }, 'postgres')
  return sql`select entry_key as key from search_body where is_whole = 0 and tokens @@ ${any}::tsquery
    and ${inLibraries('postgres', 'entry_key', scope)}
    group by entry_key having ${joined(conditions, ' and ')}`
}

function fts5Hits(table: string, expression: Expression, scope: Scope): Sql {
  const sought = rendered(expression, 'sqlite')
  const libraries = [...scope.libraries, ...scope.partly]
  const from = raw(`select rowid as key from ${table} where ${table} match `)
  if (libraries.length > FEW_LIBRARIES)
    return sql`${from}${sought} and ${inLibraries('sqlite', 'rowid', scope)}`
  const each = libraries.map((library) => {
    const { after, before } = keyRangeOf(library)
    return sql`${from}${sought} and rowid > ${after} and rowid < ${before}`
  })
  return joined(each, ' union all ')
}

function inLibraries(dialect: Dialect, column: string, { libraries, partly }: Scope): Sql {
  const among = keysIn(dialect, libraryKeySql(column), [...libraries, ...partly])
  return { text: among.sql, values: [among.value] }
}

/** Only what the filters let through, which the indexes do not know of. */
function filtered(hits: Sql, rows: Sql | undefined): Sql {
  if (rows === undefined) return hits
  return sql`select h.key from (${hits}) h cross join search_entry f where f.key = h.key and ${rows}`
}

function rowFilter(dialect: Dialect, { scope, filters }: MatchWish): Sql | undefined {
  const { kind, extensions, time, size } = filters
  const conditions: Sql[] = []
  if (extensions !== undefined || kind === 'file') conditions.push(raw('f.is_dir = 0'))
  if (kind === 'dir') conditions.push(raw('f.is_dir = 1'))
  if (time?.from !== undefined) conditions.push(sql`f.mtime >= ${time.from}`)
  if (time?.to !== undefined) conditions.push(sql`f.mtime <= ${time.to}`)
  // A folder has no size; one that is asked for leaves it out.
  if (size !== undefined && (size.from !== undefined || size.to !== undefined))
    conditions.push(raw('f.is_dir = 0'))
  if (size?.from !== undefined) conditions.push(sql`f.size >= ${size.from}`)
  if (size?.to !== undefined) conditions.push(sql`f.size <= ${size.to}`)
  if (scope.partly.length > 0) conditions.push(placeFilter(dialect, scope))
  return conditions.length === 0 ? undefined : joined(conditions, ' and ')
}

function placeFilter(dialect: Dialect, { libraries, folders }: Scope): Sql {
  const roots = keysIn(dialect, 'key', folders)
  const below = sql`f.parent_key in (with recursive below (key) as (
      select key from search_entry where ${{ text: roots.sql, values: [roots.value] }} and is_dir = 1
      union all select c.key from below join search_entry c on c.parent_key = below.key and c.is_dir = 1
    ) select key from below)`
  if (libraries.length === 0) return below
  const whole = keysIn(dialect, libraryKeySql('f.key'), libraries)
  return sql`(${{ text: whole.sql, values: [whole.value] }} or ${below})`
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
