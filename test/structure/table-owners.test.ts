import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import { moduleOf, parseArrows } from './import-map.ts'
import { parseTableOwners, sqlUsesOf, tablesIn } from './table-owners.ts'

const root = path.join(import.meta.dirname, '../..')
const src = path.join(root, 'src')
const architecture = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8')

describe('the tables', () => {
  const owners = parseTableOwners(architecture)
  const arrows = parseArrows(architecture)
  const files = globSync('**/*.ts', { cwd: src })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => !file.startsWith('platform/database/migrations/'))
    .sort()

  it('are all listed with an owner in docs/architecture.md', async () => {
    const created = new Set([...(await migratedTables()), ...searchTables()])
    assert.deepEqual([...owners.keys()].sort(), [...created].sort())
  })

  it('are named only in SQL of their owner', () => {
    const foreign: string[] = []
    for (const file of files) {
      const module = moduleOf(file, arrows)
      const { uses } = sqlUsesOf(readFileSync(path.join(src, file), 'utf8'), (name) => owners.has(name))
      for (const { table, line } of uses) {
        const owner = owners.get(table)
        if (owner !== module) foreign.push(`src/${file}:${line} names ${table}, which ${owner} owns`)
      }
    }
    assert.deepEqual(foreign, [])
  })

  // Their callers pass the name as a literal, which counts as a use (TAKES_TABLE), or both are in one module.
  const computing = new Set([
    'libraries/registry/path-bindings.ts',
    'libraries/history/path-index-store.ts',
    'libraries/push/received-store.ts',
    'libraries/push/uncommitted-store.ts',
  ])

  it('are named by a computed expression in few files only', () => {
    const others = files.filter((file) => {
      if (computing.has(file) || !file.endsWith('-store.ts') || file.startsWith('derived/search/'))
        return false
      const { computed } = sqlUsesOf(readFileSync(path.join(src, file), 'utf8'), (name) => owners.has(name))
      return computed.length > 0
    })
    assert.deepEqual(others, [])
  })

  it('are named by SQL in -store files and exported relations only', () => {
    const misplaced = files.filter((file) => {
      if (/-store\.ts$|(^|\/)relations\.ts$|^platform\/database\//.test(file)) return false
      const { uses } = sqlUsesOf(readFileSync(path.join(src, file), 'utf8'), (name) => owners.has(name))
      return uses.length > 0
    })
    assert.deepEqual(misplaced, [])
  })
})

describe('the parser of table names', () => {
  const cases: [sql: string, tables: string[]][] = [
    ['select a from ticket where b = 1', ['ticket']],
    ['select * from share s left join link k on k.key = s.key', ['share', 'link']],
    ['select * from share, link k, ticket where true', ['share', 'link', 'ticket']],
    ['select (select max(key) from link) as a, share from ticket', ['link', 'ticket']],
    ['delete from ticket where link_key in (select key from link)', ['ticket', 'link']],
    ['insert into "ticket" (hash) select hash from link', ['ticket', 'link']],
    ['update share set grantee = ? from link', ['share', 'link']],
    ["select 'from link' as text from ticket", ['ticket']],
    ['with gone as (delete from link returning key) select key from gone', ['link', 'gone']],
    ['insert into share (a) values (1) on conflict (a) do update set a = 2', ['share']],
    ['select * from (select key from link) as inner_rows join ticket on true', ['link', 'ticket']],
  ]
  for (const [sql, tables] of cases) {
    it(`finds ${tables.join(' and ')} in: ${sql}`, () => assert.deepEqual(tablesIn(sql), tables))
  }

  const isTable = (name: string) => ['ticket', 'link', 'share'].includes(name)
  const usesOf = (source: string) =>
    sqlUsesOf(source, isTable).uses.map(({ table, line }) => `${table}:${line}`)

  it('reads plain strings and templates, and says on which line', () => {
    assert.deepEqual(usesOf("const a = 'select 1 from link'\nconst b = `delete from ticket where ${a}`"), [
      'link:1',
      'ticket:2',
    ])
  })

  it('counts every table name of a file that computes a table name', () => {
    const source = "for (const table of ['ticket', 'other']) run(`delete from ${table} where key = ?`)"
    assert.deepEqual(usesOf(source), ['ticket:1'])
    assert.deepEqual(usesOf("run('delete from ' + 'share')"), ['share:1'])
  })

  it('accepts a relation that the owner exports in place of a table', () => {
    assert.deepEqual(usesOf("const kind = 'link'; run(`select * from ${linkRelation} l`)"), [])
    assert.deepEqual(usesOf("const kind = 'link'; run(`select * from ${relations.linkRelation} l`)"), [])
  })

  it('finds a table passed to a function that takes one', () => {
    assert.deepEqual(usesOf("tx.insert('ticket', ['a'], [])\ndeleteBatch(tx, 'link', 'key', 1, 2)"), [
      'ticket:1',
      'link:2',
    ])
  })
})

/** The tables of a database after all migrations. */
async function migratedTables(): Promise<string[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-tables-'))
  try {
    const onFatal = (error: unknown) => {
      throw error
    }
    await using db = await openDatabase({ kind: 'sqlite', file: path.join(folder, 'carrel.db') }, { onFatal })
    const rows = await db.all<{ name: string }>(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
    )
    return rows.map(({ name }) => name)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The tables of the search index, which has a database of its own on SQLite. */
function searchTables(): string[] {
  const source = globSync('derived/search/*-store.ts', { cwd: src })
    .map((file) => readFileSync(path.join(src, file), 'utf8'))
    .join('\n')
  const created = source.matchAll(/create (?:virtual )?table (?:if not exists )?(\w+)/g)
  return [...new Set(Array.from(created, ([, name = '']) => name))]
}
