import type { Database, Dialect, Value } from '../database/database.ts'
import { type FsId, idFromBytes } from '../objects/ids.ts'
import {
  type Expression,
  libraryToken,
  namesFrom,
  namesThatAre,
  namesWith,
  namesWithWords,
  rendered,
  textsByWord,
  textsExcluded,
  textsWithoutNames,
  textsWithWords,
} from './expression.ts'
import { keysIn } from './key-list.ts'
import { keyRangeOf, libraryKeySql, rowOf, turnedSql } from './keys.ts'
import type { Query } from './query.ts'

// Of more matches than this the newest are ranked; what is beyond follows in the order it came.
const MOST_RANKED = 1000
// So few runs of libraries are each looked up by themselves; for more, all matches are gone through.
const FEW_RUNS = 16

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

// As a parameter, SQLite would plan the statement anew each time it is used.
const number = (value: number): Sql => raw(String(value))

function joined(parts: readonly Sql[], by: string): Sql {
  return { text: parts.map(({ text }) => text).join(by), values: parts.flatMap(({ values }) => values) }
}

/** Some of what matches, by key: all of it, or no more than the newest of it. */
type Arm = (newest?: Sql) => Sql

/** What matches, in order, and how many do. */
export async function findMatches(
  db: Database,
  wish: MatchWish,
): Promise<{ total: number; matches: Match[] }> {
  const sought = soughtBy(db.dialect, wish)
  const libraries = wish.scope.libraries.length + wish.scope.partly.length
  if (sought.arms.length === 0 || libraries === 0) return { total: 0, matches: [] }
  const page = await rankedPage(db, wish, sought)
  const isWhole = wish.offset + wish.limit <= page.ranked || page.ranked === page.total
  const rest = isWhole ? [] : await unrankedPage(db, wish, sought, page)
  return { total: page.total, matches: [...page.matches, ...rest] }
}

/** What to look for, each part of it by itself. */
interface Sought {
  /** All that matches is in these. */
  readonly arms: readonly Arm[]
  /** Names that are what was asked for, and those that begin with it, which come first. */
  readonly first: readonly Arm[]
  /** Each match once: in one of these only. Undefined if that cannot be said beforehand. */
  readonly apart: readonly Arm[] | undefined
  /** Whether each match has to be looked up: then that is done once for all of them. */
  readonly isNarrowed: boolean
}

interface RankedPage {
  readonly total: number
  /** How many are ranked, for being new or for their name. */
  readonly ranked: number
  /** The lowest key of those ranked for being new. */
  readonly lowest: number
  readonly matches: Match[]
}

async function rankedPage(db: Database, wish: MatchWish, sought: Sought): Promise<RankedPage> {
  const { arms, first } = sought
  // All that matches is ranked if it is not more; only then is anything else looked for, or counted.
  const most = raw(`(select case when n < ${MOST_RANKED} then 0 else ${MOST_RANKED} end from known)`)
  const named = first.length === 0 ? raw('') : sql`union ${unionOf(first, most)}`
  const [found, some] = sought.isNarrowed
    ? [sql`found as materialized (${unionOf(arms)}),`, raw('found')]
    : [raw(''), sql`(${unionOf(arms, number(MOST_RANKED))})`]
  const query = sql`with ${found} newest as materialized (select key from ${some} m
        order by key desc limit ${number(MOST_RANKED)}),
      known as materialized (select count(*) as n, min(key) as lowest from newest),
      hit as materialized (select key from newest ${named}),
      page as materialized (select e.key, ${tierSql(db.dialect, wish)} as tier
        from hit cross join search_entry e where e.key = hit.key
        order by ${orderSql(wish)} limit ${number(Math.max(wish.limit, 1))} offset ${number(wish.offset)})
    select e.key, e.name, e.is_dir, e.object_id, e.size, e.mtime, t.entry_key as text_key, page.tier,
      (select case when n < ${number(MOST_RANKED)} then n else ${countSql(sought)} end from known) as total,
      (select count(*) from hit) as ranked, (select lowest from known) as lowest
    from page cross join search_entry e left join search_text t on t.entry_key = e.key
    where e.key = page.key
    order by ${orderSql(wish)}`
  const rows = await db.all<MatchRow & Omit<RankedPage, 'matches'>>(query.text, ...query.values)
  const [row] = rows
  if (row !== undefined) {
    const { total, ranked, lowest } = row
    return { total, ranked, lowest, matches: rows.slice(0, wish.limit).map(toMatch) }
  }
  // Beyond the last one, or there is none.
  if (wish.offset === 0) return { total: 0, ranked: 0, lowest: 0, matches: [] }
  const start = await rankedPage(db, { ...wish, offset: 0, limit: 1 }, sought)
  return { ...start, matches: [] }
}

/** What comes after all that is ranked. */
async function unrankedPage(
  db: Database,
  wish: MatchWish,
  { arms, first }: Sought,
  page: RankedPage,
): Promise<Match[]> {
  const offset = Math.max(wish.offset - page.ranked, 0)
  const limit = wish.limit - page.matches.length
  const named = unionOf(first, number(MOST_RANKED))
  const query = sql`select e.key, e.name, e.is_dir, e.object_id, e.size, e.mtime, t.entry_key as text_key,
      ${tierSql(db.dialect, wish)} as tier
    from (select key from (${unionOf(arms)}) m where key < ${page.lowest}
        ${first.length === 0 ? raw('') : sql`and key not in (${named})`}
        order by key desc limit ${number(limit)} offset ${number(offset)}) hit
      cross join search_entry e left join search_text t on t.entry_key = e.key
    where e.key = hit.key order by e.key desc`
  return (await db.all<MatchRow>(query.text, ...query.values)).map(toMatch)
}

function countSql({ arms, apart, isNarrowed }: Sought): Sql {
  if (isNarrowed) return raw('(select count(*) from found)')
  const counted = (part: Sql) => sql`(select count(*) from (${part}) m)`
  if (apart === undefined) return counted(unionOf(arms))
  return joined(
    apart.map((arm) => counted(arm())),
    ' + ',
  )
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

function soughtBy(dialect: Dialect, wish: MatchWish): Sought {
  const arms = armsOf(dialect, wish)
  return {
    arms,
    first: wish.order === 'rank' ? firstArms(dialect, wish) : [],
    apart: arms.length < 2 ? arms : apartArms(dialect, wish, arms),
    isNarrowed: rowFilter(dialect, wish) !== undefined,
  }
}

/** What together gives all that matches. None if nothing can. */
function armsOf(dialect: Dialect, wish: MatchWish): Arm[] {
  const { query, filters, where } = wish
  const { extensions } = filters
  const arms: Arm[] = []
  const whole = namesWith(query.whole, extensions)
  const names = where === 'part' ? undefined : namesWithWords(query, extensions)
  if (names !== undefined) arms.push(butExcluded(dialect, wish, nameArm(dialect, names, wish)))
  // A name that holds all of a plain query holds each of its words.
  if (whole !== undefined && (where === 'part' || !query.isPlain)) arms.push(nameArm(dialect, whole, wish))
  if (where === 'everywhere' && filters.kind !== 'dir') arms.push(...textArms(dialect, wish))
  return arms
}

/** Names that are what was asked for, and those that begin with it. */
function firstArms(dialect: Dialect, wish: MatchWish): Arm[] {
  const { query, filters } = wish
  const found = [namesThatAre(query.whole, filters.extensions), namesFrom(query.whole, filters.extensions)]
  return found.filter((names) => names !== undefined).map((names) => nameArm(dialect, names, wish))
}

/** Names are left out if it is their text that holds what is excluded. */
function butExcluded(dialect: Dialect, wish: MatchWish, names: Arm): Arm {
  const excluded = wish.where === 'everywhere' ? textsExcluded(wish.query) : undefined
  if (excluded === undefined) return names
  const texts = bodyArm(dialect, excluded, wish, '')
  return () => sql`select key from (${names()}) n except select key from (${texts()}) t`
}

/** Names rest with the texts, too, so nothing has to be gathered to know which texts are not found by their name. */
function apartArms(dialect: Dialect, wish: MatchWish, arms: readonly Arm[]): Arm[] | undefined {
  const [names, , ...more] = arms
  if (dialect !== 'sqlite' || !wish.query.isPlain || names === undefined || more.length > 0) return undefined
  const texts = textsWithoutNames(wish.query, wish.filters.extensions)
  return texts && [names, fts5Arm('search_body', texts, wish)]
}

function nameArm(dialect: Dialect, expression: Expression, wish: MatchWish): Arm {
  if (dialect === 'sqlite') return fts5Arm('search_name', expression, wish)
  const { scope } = wish
  const [only, ...more] = [...scope.libraries, ...scope.partly]
  const within = more.length === 0 && only !== undefined ? [libraryOnly(only)] : []
  const sought = rendered({ all: [expression, ...within] }, dialect)
  const rows = rowFilter(dialect, wish)
  return newestOf(sql`select f.key from search_entry f where f.grams @@ ${sought}::tsquery
    and ${inLibraries(dialect, 'f.key', scope)} ${rows === undefined ? raw('') : sql`and ${rows}`}`)
}

/** `which` of the rows of texts: those that are whole, those that are parts. */
function bodyArm(dialect: Dialect, expression: Expression, wish: MatchWish, which: string): Arm {
  if (dialect === 'sqlite') return fts5Arm('search_body', expression, wish)
  const rows = rowFilter(dialect, wish)
  const joining = rows === undefined ? raw('') : raw('join search_entry f on f.key = b.entry_key')
  return newestOf(sql`select b.entry_key as key from search_body b ${joining}
    where b.tokens @@ ${rendered(expression, dialect)}::tsquery ${raw(which)}
    and ${inLibraries(dialect, 'b.entry_key', wish.scope)} ${rows === undefined ? raw('') : sql`and ${rows}`}`)
}

function textArms(dialect: Dialect, wish: MatchWish): Arm[] {
  const texts = textsWithWords(wish.query, wish.filters.extensions)
  if (texts === undefined) return []
  const whole = bodyArm(dialect, texts, wish, 'and b.is_whole = 1')
  const parted = dialect === 'sqlite' ? undefined : partedTexts(wish)
  return parted === undefined ? [whole] : [whole, parted]
}

/** Texts in several rows: each word may be in another. */
function partedTexts(wish: MatchWish): Arm | undefined {
  const byWord = textsByWord(wish.query, wish.filters.extensions)
  if (byWord === undefined) return undefined
  const holds = (expression: Expression) =>
    sql`bool_or(tokens @@ ${rendered(expression, 'postgres')}::tsquery)`
  const conditions = [
    ...byWord.words.map(holds),
    ...byWord.excluded.map((expression) => sql`not ${holds(expression)}`),
  ]
  const any = rendered({ any: [...byWord.words, ...byWord.excluded] }, 'postgres')
  const parts = sql`select entry_key from search_body where is_whole = 0 and tokens @@ ${any}::tsquery
    and ${inLibraries('postgres', 'entry_key', wish.scope)}
    group by entry_key having ${joined(conditions, ' and ')}`
  const rows = rowFilter('postgres', wish)
  if (rows === undefined) return newestOf(sql`select entry_key as key from (${parts}) p`)
  return newestOf(
    sql`select f.key from (${parts}) p join search_entry f on f.key = p.entry_key where ${rows}`,
  )
}

// The engine goes through its matches from the newest on: those are had without looking at the others.
function fts5Arm(table: string, expression: Expression, wish: MatchWish): Arm {
  const sought = rendered(expression, 'sqlite')
  const { scope } = wish
  const runs = runsOf([...scope.libraries, ...scope.partly])
  const rows = rowFilter('sqlite', wish)
  const [row, key] = [raw(`${table}.rowid`), turnedSql(`${table}.rowid`)]
  const joining = rows === undefined ? '' : ' cross join search_entry f indexed by search_entry_facts'
  const from = raw(`select ${key} as key from ${table}${joining} where ${table} match `)
  const passing = rows === undefined ? raw('') : sql`and f.key = ${raw(key)} and ${rows}`
  const places =
    runs.length > FEW_RUNS
      ? [inLibraries('sqlite', key, scope)]
      : runs.map(({ first, last }) => {
          const [{ after }, { before }] = [keyRangeOf(first), keyRangeOf(last)]
          return sql`${row} < ${rowOf(after)} and ${row} > ${rowOf(before)}`
        })
  return (newest) => {
    const end = newest === undefined ? raw('') : sql`order by ${row} limit ${newest}`
    const parts = places.map(
      (place) => sql`select key from (${from}${sought} and ${place} ${passing} ${end})`,
    )
    return joined(parts, ' union all ')
  }
}

/** Libraries whose keys follow each other, every one of them among those given; the last first. */
function runsOf(libraries: readonly number[]): { first: number; last: number }[] {
  const runs: { first: number; last: number }[] = []
  for (const key of libraries.toSorted((a, b) => b - a)) {
    const run = runs.at(-1)
    if (run !== undefined && key >= run.first - 1) run.first = key
    else runs.push({ first: key, last: key })
  }
  return runs
}

function newestOf(all: Sql): Arm {
  return (newest) =>
    newest === undefined ? all : sql`select key from (${all}) a order by key desc limit ${newest}`
}

function unionOf(arms: readonly Arm[], newest?: Sql): Sql {
  return joined(
    arms.map((arm) => sql`select key from (${arm(newest)}) a`),
    ' union ',
  )
}

function libraryOnly(libraryKey: number): Expression {
  return { phrase: { tokens: [libraryToken(libraryKey)], prefix: false } }
}

function inLibraries(dialect: Dialect, column: string, { libraries, partly }: Scope): Sql {
  const among = keysIn(dialect, libraryKeySql(column), [...libraries, ...partly])
  return { text: among.sql, values: [among.value] }
}

/** What the indexes do not know of, about the entry `f`. */
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
