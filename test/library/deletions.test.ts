import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { deleteLibrary } from '../../src/libraries/library/libraries.ts'
import { Audit } from '../../src/people/audit/audit.ts'
import { Passwords } from '../../src/people/passwords/passwords.ts'
import type { Database, Transaction, Value } from '../../src/platform/database/database.ts'
import { createAccounts } from '../../src/programs/assembly/accounts.ts'
import { libraryDependents } from '../../src/programs/assembly/dependents.ts'
import { openTestCore, type TestCore } from '../support/core.ts'

interface Column {
  readonly name: string
  readonly type: string
  readonly notnull: number
  /** The referenced table. */
  readonly refers: string | null
}

describe('deleting a library', () => {
  it('removes the rows of every module, without foreign keys', async () => {
    await using test = await openTestCore()
    const owner = await test.actor()
    const { info } = await test.newLibrary(owner)
    const schema = await schemaOf(test.db)
    await fill(test.db, schema, { library: info.key, account: owner.key })
    const referring = await referencesTo(test.db, schema, 'library', info.key)
    assert.ok(Object.keys(referring).length >= 20, Object.keys(referring).join())

    for (const dependent of libraryDependents) {
      const next = async (tx: Transaction) => (await dependent.purgeBatch?.(tx, info.key, 1)) ?? 0
      while ((await test.db.write(next)) > 0);
    }
    await test.db.write(async (tx) => {
      for (const dependent of libraryDependents) await dependent.onPurged?.(tx, info.key)
    })
    assert.deepEqual(await referencesTo(test.db, schema, 'library', info.key), {})
  })

  it('keeps all rows if the transaction fails after the announcement', async () => {
    await using test = await openTestCore()
    const library = await test.newLibrary(await test.actor())
    const schema = await schemaOf(test.db)
    await fill(test.db, schema, { library: library.info.key, account: library.actor.key })
    const before = await referencesTo(test.db, schema, 'library', library.info.key)
    // Fails once the announcement has deleted rows.
    await test.db.write((tx) =>
      tx.run(`create trigger no_audit before insert on audit_entry
        when not exists (select 1 from sync_token where library_key = ${library.info.key})
        begin select raise(abort, 'the audit log failed'); end`),
    )
    const failing = deleteLibrary(test.core, library.owned(), { actor: 'machine', address: '' })
    await assert.rejects(failing, /the audit log failed/)
    assert.deepEqual(await referencesTo(test.db, schema, 'library', library.info.key), before)
  })
})

describe('removing an account', () => {
  // The row of the account stays, because these refer to it.
  const kept = {
    // Tells a client that its account was removed.
    'api_token.account_key': 1,
    // In the trash, where an administrator can restore it.
    'library.owner_key': 1,
  }

  it('leaves no other row that refers to it', async () => {
    await using test = await openTestCore()
    const account = await test.actor()
    const other = await test.newLibrary(await test.actor())
    await test.newLibrary(account)
    const schema = await schemaOf(test.db)
    await fill(test.db, schema, { library: other.info.key, account: account.key })
    const accounts = accountsOf(test, test.core.audit)
    await accounts.remove(account.email, undefined)
    assert.deepEqual(await referencesTo(test.db, schema, 'account', account.key), kept)
  })

  it('keeps all rows if the transaction fails after the announcement', async () => {
    await using test = await openTestCore()
    const account = await test.actor()
    const { info } = await test.newLibrary(account)
    const schema = await schemaOf(test.db)
    await fill(test.db, schema, { library: info.key, account: account.key })
    const before = await referencesTo(test.db, schema, 'account', account.key)
    const audit = new Audit(
      test.db,
      () => {
        throw new Error('the audit log failed')
      },
      -1,
    )
    const failing = accountsOf(test, audit).remove(account.email, { actor: account.email, address: '' })
    await assert.rejects(failing, /the audit log failed/)
    assert.deepEqual(await referencesTo(test.db, schema, 'account', account.key), before)
  })
})

function accountsOf({ db, core }: TestCore, audit: Audit) {
  return createAccounts({ db, audit, now: core.now, passwords: new Passwords() })
}

type Schema = ReadonlyMap<string, readonly Column[]>

/** The tables with their columns, each after the tables it refers to. */
async function schemaOf(db: Database): Promise<Schema> {
  const tables = await db.all<{ name: string }>("select name from sqlite_master where type = 'table'")
  const columns = new Map<string, Column[]>()
  for (const { name } of tables) {
    const sql = `select c.name, c.type, c."notnull", f."table" as refers from pragma_table_info('${name}') c
      left join pragma_foreign_key_list('${name}') f on f."from" = c.name`
    columns.set(name, await db.all<Column & Record<string, Value>>(sql))
  }
  const sorted = new Map<string, readonly Column[]>()
  const add = (table: string) => {
    if (sorted.has(table)) return
    for (const { refers } of columns.get(table) ?? []) if (refers !== null && refers !== table) add(refers)
    sorted.set(table, columns.get(table) ?? [])
  }
  for (const table of columns.keys()) add(table)
  return sorted
}

/** Inserts a row that refers to the library or the account into every table that can. */
async function fill(db: Database, schema: Schema, given: Readonly<Record<string, number>>): Promise<void> {
  const keys: Record<string, number> = { ...given }
  const refersTo = (columns: readonly Column[], tables: Readonly<Record<string, number>>) =>
    columns.some(({ refers }) => refers !== null && tables[refers] !== undefined)
  // A table may also refer to a row of a table that refers to neither.
  const parents = new Set<string | null>(
    [...schema.values()]
      .filter((columns) => refersTo(columns, given))
      .flatMap((columns) => columns.map(({ refers }) => refers)),
  )
  await db.write(async (tx) => {
    for (const [table, columns] of schema) {
      if (given[table] !== undefined || !(refersTo(columns, keys) || parents.has(table))) continue
      const filled = columns.filter(({ name }) => name !== 'key')
      const values = filled.map((column) => valueOf(column, keys))
      const marks = values.map(() => '?').join(', ')
      const names = filled.map(({ name }) => name).join(', ')
      const hasKey = filled.length < columns.length
      const sql = `insert into ${table} (${names}) values (${marks}) on conflict do nothing`
      if (!hasKey) await tx.run(sql, ...values)
      else keys[table] = (await tx.get<{ key: number }>(`${sql} returning key`, ...values))?.key ?? 0
    }
  })
}

function valueOf({ name, type, refers }: Column, keys: Readonly<Record<string, number>>): Value {
  if (refers !== null) return keys[refers] ?? null
  // A share with the account, which refers to it without a foreign key.
  if (name === 'grantee') return 'user'
  if (name === 'grantee_key') return keys['account'] ?? 0
  if (type === 'blob') return randomBytes(20)
  return type === 'text' ? randomUUID() : 2_000_000_000
}

/** Number of rows that refer to a row by a foreign key, by column, without zeros. */
async function referencesTo(
  reader: Database | Transaction,
  schema: Schema,
  target: string,
  key: number,
): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [table, columns] of schema) {
    for (const { name, refers } of columns) {
      if (refers !== target) continue
      const sql = `select count(*) as n from ${table} where ${name} = ?`
      const n = (await reader.get<{ n: number }>(sql, key))?.n ?? 0
      if (n > 0) found[`${table}.${name}`] = n
    }
  }
  return found
}
