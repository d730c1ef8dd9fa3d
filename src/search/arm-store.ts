import type { Dialect } from '../database/index.ts'
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
import type { MatchWish, Scope, Slice } from './match-wish.ts'
import { joined, number, raw, type Sql, sql } from './sql.ts'
import { letterOf } from './tokens.ts'

// So few runs of libraries are each looked up by themselves; for more, all matches are gone through.
const FEW_RUNS = 16

/** Some of what matches, by key: all of it, no more than the newest of it, what is in a slice of the index. */
type Arm = (bounds?: ArmBounds) => Sql

export interface ArmBounds {
  readonly newest?: number | undefined
  /** On SQLite only; there is one of all elsewhere. */
  readonly slice?: Slice | undefined
  /** For who knows that nothing is outside of the libraries: each row is then looked at less. */
  readonly isEverything?: boolean
}

/** What to look for, each part of it by itself. */
export interface Sought {
  /** All that matches is in these. */
  readonly arms: readonly Arm[]
  /** Names that are what was asked for, and those that begin with it, which come first. */
  readonly first: readonly Arm[]
  /** Each match once: in one of these only. Undefined if that cannot be said beforehand. */
  readonly apart: readonly Arm[] | undefined
  /** The one character all that is sought for in names is: how many have it is known. */
  readonly letter: string | undefined
  /** Whether each match has to be looked up: then that is done once for all of them. */
  readonly isNarrowed: boolean
}

export function soughtBy(dialect: Dialect, wish: MatchWish): Sought {
  const arms = armsOf(dialect, wish)
  return {
    arms,
    first: wish.order === 'rank' ? firstArms(dialect, wish) : [],
    apart: arms.length < 2 ? arms : apartArms(dialect, wish, arms),
    letter: letterSought(wish),
    isNarrowed: rowFilter(dialect, wish) !== undefined,
  }
}

function letterSought({ query, filters }: MatchWish): string | undefined {
  return query.isPlain && query.terms.length === 1 && filters.extensions === undefined
    ? letterOf(query.whole)
    : undefined
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
  return (bounds) =>
    sql`select key from (${names({ ...bounds, newest: undefined })}) n except select key from (${texts({ ...bounds, newest: undefined })}) t`
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
  const rows = rowFilter('sqlite', wish)
  const [row, key] = [raw(`${table}.rowid`), turnedSql(`${table}.rowid`)]
  const joining = rows === undefined ? '' : ' cross join search_entry f indexed by search_entry_facts'
  const from = raw(`select ${key} as key from ${table}${joining} where ${table} match `)
  const passing = rows === undefined ? raw('') : sql`and f.key = ${raw(key)} and ${rows}`
  const runs = runsOf(wish.scope)
  return ({ newest, slice = {}, isEverything = false } = {}) => {
    const end = newest === undefined ? raw('') : sql`order by ${row} limit ${number(newest)}`
    const places = isEverything ? [within(row, slice)] : placesOf(wish.scope, runs, slice, row, key)
    const parts = places.map((place) => sql`select key from (${from}${sought} ${place} ${passing} ${end})`)
    return parts.length === 0 ? raw('select 0 as key where false') : joined(parts, ' union all ')
  }
}

/** Conditions of which a row of FTS5 meets one if it is where to look. */
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

/** As SQL: whether the index has entries of no other libraries than those to look in. Undefined if that takes long to say. */
export function isEverything(scope: Scope): Sql | undefined {
  const [run, ...more] = runsOf(scope)
  if (run === undefined || more.length > 0) return undefined
  const [{ after }, { before }] = [keyRangeOf(run.first), keyRangeOf(run.last)]
  return sql`(not exists (select 1 from search_entry where key <= ${after})
    and not exists (select 1 from search_entry where key >= ${before}))`
}

interface Run {
  first: number
  readonly last: number
}

// Each arm asks.
const runsOfScopes = new WeakMap<Scope, readonly Run[]>()

/** Libraries whose keys follow each other, every one of them among those given; the last first. */
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

function newestOf(all: Sql): Arm {
  return ({ newest } = {}) =>
    newest === undefined ? all : sql`select key from (${all}) a order by key desc limit ${number(newest)}`
}

/** What any of some arms gives. `apart`: no two give the same. */
export function unionOf(arms: readonly Arm[], bounds?: ArmBounds, { apart = false } = {}): Sql {
  return joined(
    arms.map((arm) => sql`select key from (${arm(bounds)}) a`),
    apart ? ' union all ' : ' union ',
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
