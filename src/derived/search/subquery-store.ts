import type { Dialect } from '../../platform/database/index.ts'
import {
  type Expression,
  libraryToken,
  namesFrom,
  namesThatAre,
  namesWith,
  namesWithWords,
  rendered,
  renderedGrams,
  textsByWord,
  textsExcluded,
  textsWithoutNames,
  textsWithWords,
} from './expression.ts'
import { containsPart, hasGrams } from './grams-store.ts'
import { keyRangeOf, keysIn, libraryKeySql, rowOf, turnedSql } from './keys.ts'
import type { MatchRequest, Scope, Slice } from './match-request.ts'
import { joined, number, raw, type Sql, sql } from './sql.ts'

// Up to this many runs of library keys get a range condition each; with more, all matches are scanned.
const FEW_RUNS = 16

/** The keys of some matches: all, the newest, or those in a slice of the index. */
type Subquery = (bounds?: SubqueryBounds) => Sql

interface SubqueryBounds {
  readonly newest?: number | undefined
  /** SQLite only; PostgreSQL uses one slice. */
  readonly slice?: Slice | undefined
}

/** The subqueries of a search. */
export interface SearchPlan {
  /** Together these find all matches. */
  readonly subqueries: readonly Subquery[]
  /** Names equal to the query, and names that start with it: ranked first. */
  readonly first: readonly Subquery[]
  /** Subqueries without common matches. Undefined if the planner cannot guarantee that. */
  readonly disjoint: readonly Subquery[] | undefined
  /** Whether filters require looking up each match. Then that is done once for all subqueries. */
  readonly isNarrowed: boolean
}

export function planSearch(dialect: Dialect, request: MatchRequest): SearchPlan {
  const subqueries = subqueriesOf(dialect, request)
  return {
    subqueries,
    first: request.order === 'rank' ? rankedSubqueries(dialect, request) : [],
    disjoint: subqueries.length < 2 ? subqueries : disjointSubqueries(dialect, request, subqueries),
    isNarrowed: rowFilter(dialect, request) !== undefined,
  }
}

/** The subqueries that together find all matches. Empty if nothing can match. */
function subqueriesOf(dialect: Dialect, request: MatchRequest): Subquery[] {
  const { query, filters, where } = request
  const { extensions } = filters
  const subqueries: Subquery[] = []
  const whole = namesWith(query.whole, extensions)
  const names = where === 'part' ? undefined : namesWithWords(query, extensions)
  if (names !== undefined)
    subqueries.push(withoutExcluded(dialect, request, nameSubquery(dialect, names, request)))
  // A name that contains the whole of a plain query contains each of its words.
  if (whole !== undefined && (where === 'part' || !query.isPlain))
    subqueries.push(nameSubquery(dialect, whole, request))
  if (where === 'everywhere' && filters.kind !== 'dir') subqueries.push(...textSubqueries(dialect, request))
  return subqueries
}

/** Names equal to the query, and names that start with it. */
function rankedSubqueries(dialect: Dialect, request: MatchRequest): Subquery[] {
  const { query, filters } = request
  const found = [namesThatAre(query.whole, filters.extensions), namesFrom(query.whole, filters.extensions)]
  return found.filter((names) => names !== undefined).map((names) => nameSubquery(dialect, names, request))
}

/** Excludes names whose text contains an excluded word. */
function withoutExcluded(dialect: Dialect, request: MatchRequest, names: Subquery): Subquery {
  const excluded = request.where === 'everywhere' ? textsExcluded(request.query) : undefined
  if (excluded === undefined) return names
  const texts = textSubquery(dialect, excluded, request, '')
  return (bounds) =>
    sql`select key from (${names({ ...bounds, newest: undefined })}) n except select key from (${texts({ ...bounds, newest: undefined })}) t`
}

/** The text index contains the names, too, so texts that do not match by name are found by one expression. */
function disjointSubqueries(
  dialect: Dialect,
  request: MatchRequest,
  subqueries: readonly Subquery[],
): Subquery[] | undefined {
  const [names, , ...more] = subqueries
  if (dialect !== 'sqlite' || !request.query.isPlain || names === undefined || more.length > 0)
    return undefined
  const texts = textsWithoutNames(request.query, request.filters.extensions)
  return texts && [names, fts5Subquery('search_body', texts, request)]
}

function nameSubquery(dialect: Dialect, expression: Expression, request: MatchRequest): Subquery {
  if (dialect === 'sqlite') return fts5Subquery('search_name', expression, request)
  const { scope } = request
  const [only, ...more] = [...scope.libraries, ...scope.partly]
  const within = more.length === 0 && only !== undefined ? [libraryOnly(only)] : []
  const candidates = hasGrams(renderedGrams({ all: [expression, ...within] }))
  const rows = rowFilter(dialect, request)
  return newestOf(sql`select f.key from search_entry f where ${candidates} and ${matchingName(expression)}
    and ${inLibraries(dialect, 'f.key', scope)} ${rows === undefined ? raw('') : sql`and ${rows}`}`)
}

/**
 * For PostgreSQL: the condition of the name of an entry `f` to match. Also of parts that a gram finds by itself: of many matches PostgreSQL reads the newest entries instead of
 * the index, and makes the grams only of those that meet this condition, which is cheaper.
 */
function matchingName(expression: Expression): Sql {
  if ('phrase' in expression) return containsPart(expression.phrase.text ?? '')
  if ('some' in expression)
    return sql`${matchingName(expression.some)} and not ${matchingName(expression.but)}`
  const [parts, operator] = 'all' in expression ? [expression.all, ' and '] : [expression.any, ' or ']
  return sql`(${joined(parts.map(matchingName), operator)})`
}

/** `which` selects the text rows: complete texts or parts. */
function textSubquery(
  dialect: Dialect,
  expression: Expression,
  request: MatchRequest,
  which: string,
): Subquery {
  if (dialect === 'sqlite') return fts5Subquery('search_body', expression, request)
  const rows = rowFilter(dialect, request)
  const joining = rows === undefined ? raw('') : raw('join search_entry f on f.key = b.entry_key')
  return newestOf(sql`select b.entry_key as key from search_body b ${joining}
    where b.tokens @@ ${rendered(expression, dialect)}::tsquery ${raw(which)}
    and ${inLibraries(dialect, 'b.entry_key', request.scope)} ${rows === undefined ? raw('') : sql`and ${rows}`}`)
}

function textSubqueries(dialect: Dialect, request: MatchRequest): Subquery[] {
  const texts = textsWithWords(request.query, request.filters.extensions)
  if (texts === undefined) return []
  const whole = textSubquery(dialect, texts, request, 'and b.is_whole = 1')
  const parted = dialect === 'sqlite' ? undefined : partedTexts(request)
  return parted === undefined ? [whole] : [whole, parted]
}

/** Texts in several rows: each word may be in another row. */
function partedTexts(request: MatchRequest): Subquery | undefined {
  const byWord = textsByWord(request.query, request.filters.extensions)
  if (byWord === undefined) return undefined
  const holds = (expression: Expression) =>
    sql`bool_or(tokens @@ ${rendered(expression, 'postgres')}::tsquery)`
  const conditions = [
    ...byWord.words.map(holds),
    ...byWord.excluded.map((expression) => sql`not ${holds(expression)}`),
  ]
  const any = rendered({ any: [...byWord.words, ...byWord.excluded] }, 'postgres')
  const parts = sql`select entry_key from search_body where is_whole = 0 and tokens @@ ${any}::tsquery
    and ${inLibraries('postgres', 'entry_key', request.scope)}
    group by entry_key having ${joined(conditions, ' and ')}`
  const rows = rowFilter('postgres', request)
  if (rows === undefined) return newestOf(sql`select entry_key as key from (${parts}) p`)
  return newestOf(
    sql`select f.key from (${parts}) p join search_entry f on f.key = p.entry_key where ${rows}`,
  )
}

// FTS5 returns matches newest first, so the newest are found without visiting the others.
function fts5Subquery(table: string, expression: Expression, request: MatchRequest): Subquery {
  const expressionText = rendered(expression, 'sqlite')
  const rows = rowFilter('sqlite', request)
  const [row, key] = [raw(`${table}.rowid`), turnedSql(`${table}.rowid`)]
  const joining = rows === undefined ? '' : ' cross join search_entry f indexed by search_entry_facts'
  const from = raw(`select ${key} as key from ${table}${joining} where ${table} match `)
  const passing = rows === undefined ? raw('') : sql`and f.key = ${raw(key)} and ${rows}`
  const runs = runsOf(request.scope)
  return ({ newest, slice = {} } = {}) => {
    const end = newest === undefined ? raw('') : sql`order by ${row} limit ${number(newest)}`
    const places = placesOf(request.scope, runs, slice, row, key)
    const parts = places.map(
      (place) => sql`select key from (${from}${expressionText} ${place} ${passing} ${end})`,
    )
    return parts.length === 0 ? raw('select 0 as key where false') : joined(parts, ' union all ')
  }
}

/** Conditions for FTS5 rows in the scope; a row meets at least one. */
function placesOf(scope: Scope, runs: readonly Run[], slice: Slice, row: Sql, key: string): Sql[] {
  if (runs.length > FEW_RUNS) return [sql`and ${inLibraries('sqlite', key, scope)} ${within(row, slice)}`]
  return runs
    .map(({ first, last }) => ({
      from: Math.max(slice.from ?? 0, keyRangeOf(first).after),
      before: Math.min(slice.before ?? Number.MAX_SAFE_INTEGER, keyRangeOf(last).before),
    }))
    .filter(({ from, before }) => from < before)
    .map((range) => within(row, range))
}

function within(row: Sql, { from, before }: Slice): Sql {
  const above = from === undefined ? raw('') : sql`and ${row} <= ${rowOf(from)}`
  return before === undefined ? above : sql`${above} and ${row} > ${rowOf(before)}`
}

interface Run {
  first: number
  readonly last: number
}

// Every subquery needs it.
const runsOfScopes = new WeakMap<Scope, readonly Run[]>()

/** Runs of consecutive library keys, last first. */
function runsOf(scope: Scope): readonly Run[] {
  const known = runsOfScopes.get(scope)
  if (known !== undefined) return known
  const runs: Run[] = []
  for (const key of [...scope.libraries, ...scope.partly].sort((a, b) => b - a)) {
    const run = runs.at(-1)
    if (run !== undefined && key >= run.first - 1) run.first = key
    else runs.push({ first: key, last: key })
  }
  runsOfScopes.set(scope, runs)
  return runs
}

function newestOf(all: Sql): Subquery {
  return ({ newest } = {}) =>
    newest === undefined ? all : sql`select key from (${all}) a order by key desc limit ${number(newest)}`
}

/** The union of subqueries. `disjoint`: they have no common matches. */
export function unionOf(
  subqueries: readonly Subquery[],
  bounds?: SubqueryBounds,
  { disjoint = false } = {},
): Sql {
  return joined(
    subqueries.map((subquery) => sql`select key from (${subquery(bounds)}) a`),
    disjoint ? ' union all ' : ' union ',
  )
}

function libraryOnly(libraryKey: number): Expression {
  return { phrase: { tokens: [libraryToken(libraryKey)], prefix: false } }
}

function inLibraries(dialect: Dialect, column: string, { libraries, partly }: Scope): Sql {
  return sqlOf(keysIn(dialect, libraryKeySql(column), [...libraries, ...partly]))
}

function sqlOf({ sql, value }: ReturnType<typeof keysIn>): Sql {
  return { text: sql, values: [value] }
}

/** Conditions on the entry `f` that the full-text index cannot check. */
function rowFilter(dialect: Dialect, { scope, filters }: MatchRequest): Sql | undefined {
  const { kind, extensions, time, size } = filters
  const conditions: Sql[] = []
  if (extensions !== undefined || kind === 'file') conditions.push(raw('f.is_dir = 0'))
  if (kind === 'dir') conditions.push(raw('f.is_dir = 1'))
  if (time?.from !== undefined) conditions.push(sql`f.mtime >= ${time.from}`)
  if (time?.to !== undefined) conditions.push(sql`f.mtime <= ${time.to}`)
  // Folders have no size, so a size filter excludes them.
  if (size !== undefined && (size.from !== undefined || size.to !== undefined))
    conditions.push(raw('f.is_dir = 0'))
  if (size?.from !== undefined) conditions.push(sql`f.size >= ${size.from}`)
  if (size?.to !== undefined) conditions.push(sql`f.size <= ${size.to}`)
  if (scope.partly.length > 0) conditions.push(placeFilter(dialect, scope))
  return conditions.length === 0 ? undefined : joined(conditions, ' and ')
}

function placeFilter(dialect: Dialect, { libraries, folders, files }: Scope): Sql {
  const roots = sqlOf(keysIn(dialect, 'key', folders))
  const below = sql`f.parent_key in (with recursive below (key) as (
      select key from search_entry where ${roots} and is_dir = 1
      union all select c.key from below join search_entry c on c.parent_key = below.key and c.is_dir = 1
    ) select key from below)`
  const others: Sql[] = []
  if (libraries.length > 0) others.push(sqlOf(keysIn(dialect, libraryKeySql('f.key'), libraries)))
  if (files.length > 0) others.push(sqlOf(keysIn(dialect, 'f.key', files)))
  return others.length === 0 ? below : sql`(${joined([...others, below], ' or ')})`
}
