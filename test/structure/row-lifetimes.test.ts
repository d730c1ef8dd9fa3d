import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import { parseTableOwners } from './table-owners.ts'

const root = path.join(import.meta.dirname, '../..')
const owners = parseTableOwners(readFileSync(path.join(root, 'docs/architecture.md'), 'utf8'))
const lifetimes = parseLifetimes(readFileSync(path.join(root, 'docs/data-model.md'), 'utf8'))

describe('the rows of every table', () => {
  it('end by a rule that docs/data-model.md gives', () => {
    assert.deepEqual([...lifetimes.keys()].sort(), [...owners.keys()].sort())
  })

  it('are deleted by the module that owns the table or by a foreign key, unless the rule says that they stay', async () => {
    const cascading = await cascadingTables()
    const withoutDeletion = [...owners].filter(
      ([table, module]) =>
        lifetimes.get(table)?.isDeleted && !cascading.has(table) && !deletedIn(module).has(table),
    )
    assert.deepEqual(withoutDeletion, [])
  })

  it('are not said to stay if there is a deletion', () => {
    const deleted = [...owners].filter(
      ([table, module]) => lifetimes.get(table)?.isDeleted === false && deletedIn(module).has(table),
    )
    assert.deepEqual(deleted, [])
  })
})

/** Tables whose rows end with the row that they belong to. */
async function cascadingTables(): Promise<Set<string>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-lifetimes-'))
  try {
    const onFatal = (error: unknown) => {
      throw error
    }
    await using db = await openDatabase({ kind: 'sqlite', file: path.join(folder, 'carrel.db') }, { onFatal })
    const rows = await db.all<{ name: string }>(
      `select m.name from sqlite_master m join pragma_foreign_key_list(m.name) f
       where m.type = 'table' and f.on_delete = 'CASCADE'`,
    )
    return new Set(rows.map(({ name }) => name))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The rows `| tables | rule |` of the section "When rows end". */
function parseLifetimes(markdown: string): Map<string, { isDeleted: boolean }> {
  const section = /^### When rows end\n(.*?)^### /ms.exec(markdown)?.[1] ?? ''
  const found = new Map<string, { isDeleted: boolean }>()
  for (const [, tables = '', rule = ''] of section.matchAll(/^\| (`.*`) \| (.*) \|$/gm)) {
    for (const [, table = ''] of tables.matchAll(/`(\w+)`/g)) {
      assert.ok(!found.has(table), `${table} is listed twice`)
      found.set(table, { isDeleted: !rule.includes('(never deleted)') })
    }
  }
  return found
}

const deleted = new Map<string, Set<string>>()

/** The tables that the SQL of a module deletes from. Where the name is computed, every table that the file names counts. */
function deletedIn(module: string): Set<string> {
  const known = deleted.get(module)
  if (known !== undefined) return known
  const tables = new Set<string>()
  for (const file of globSync(`src/${module}/**/*.ts`, { cwd: root })) {
    if (file.endsWith('.test.ts')) continue
    const source = readFileSync(path.join(root, file), 'utf8')
    for (const [, table = ''] of source.matchAll(/delete from (\w+)/g)) tables.add(table)
    for (const [, table = ''] of source.matchAll(/deleteBatch\(tx, '(\w+)'/g)) tables.add(table)
    for (const [, table = ''] of source.matchAll(/tableBinding\(\s*'(\w+)'/g)) tables.add(table)
    if (!/delete from \$\{/.test(source)) continue
    for (const [, name = ''] of source.matchAll(/'(\w+)'/g)) if (owners.has(name)) tables.add(name)
  }
  deleted.set(module, tables)
  return tables
}
