import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { findPostgres } from '../../../test/support/postgres.ts'
import type { Transaction, Value } from '../database.ts'
import { DatabaseError } from '../errors.ts'
import { openPostgres, type PostgresDatabase } from './postgres-database.ts'

const server = await findPostgres()
const skip = typeof server === 'string' ? server : undefined

after(async () => {
  if (typeof server !== 'string') await server[Symbol.asyncDispose]()
})

interface Insert {
  readonly kind: 'insert'
  readonly rows: readonly (readonly Value[])[]
  readonly ignoreExisting: boolean
}

interface Query<Kind extends 'run' | 'all'> {
  readonly kind: Kind
  readonly sql: string
  readonly values: readonly Value[]
}

type Statement = Insert | Query<'run'> | Query<'all'>

interface Write {
  readonly statements: readonly Statement[]
  /** Sent without waiting for one another. */
  readonly together: boolean
  readonly fails: boolean
}

const id = fc.integer({ min: 1, max: 12 })
const text = fc.oneof(
  fc.constant(null),
  fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.replaceAll('\0', '').toWellFormed()),
)
const bytes = fc.oneof(
  fc.constant(null),
  fc.uint8Array({ maxLength: 3000 }).map((value) => new Uint8Array(value)),
)
const amount = fc.oneof(fc.constant(null), fc.maxSafeInteger())
const row = fc.tuple(id, text, bytes, amount)
const statement: fc.Arbitrary<Statement> = fc.oneof(
  fc.record({
    kind: fc.constant('insert' as const),
    rows: fc.uniqueArray(row, { maxLength: 8, selector: ([key]) => key }),
    ignoreExisting: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('run' as const),
    sql: fc.constant('update item set name = ?, data = ?, amount = ? where id = ?'),
    values: fc.tuple(text, bytes, amount, id),
  }),
  fc.record({
    kind: fc.constant('run' as const),
    sql: fc.constant('delete from item where id = ?'),
    values: fc.tuple(id),
  }),
  fc.record({
    kind: fc.constant('all' as const),
    sql: fc.constantFrom(
      'select * from item where id >= ? order by id',
      'select count(*) as n, sum(id) as total, true as yes, max(amount) as most from item where id < ?',
      // Fails for some values: division by zero, an overflow, an unknown column.
      'select 12 / (? - 5)::int as n',
      'select 9007199254740990::bigint + ?::bigint as n',
      'select missing from item where id = ?',
    ),
    values: fc.tuple(id),
  }),
)
const write: fc.Arbitrary<Write> = fc.record({
  statements: fc.array(statement, { minLength: 1, maxLength: 6 }),
  together: fc.boolean(),
  fails: fc.boolean(),
})

describe('the fast PostgreSQL protocol', skip ? { skip } : {}, () => {
  it('has the same outcome as the plain one for random transactions and reads', async () => {
    await using plain = await open('plain')
    await using fast = await open('fast')
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 8 }), async (writes) => {
        const [expected, found] = await Promise.all([plain, fast].map((db) => outcomesOf(db, writes)))
        assert.deepEqual(found, expected)
      }),
      { numRuns: Number(process.env['CARREL_TEST_POSTGRES_RUNS'] ?? 60) },
    )
  })
})

async function open(implementation: 'plain' | 'fast'): Promise<PostgresDatabase> {
  if (typeof server === 'string') throw new Error(server)
  const db = await openPostgres({
    url: await server.createDatabase(),
    implementation,
    onFatal: (error) => assert.fail(error),
  })
  await db.write((tx) =>
    tx.run('create table item (id bigint primary key, name text, data bytea, amount bigint)'),
  )
  return db
}

async function outcomesOf(db: PostgresDatabase, writes: readonly Write[]): Promise<unknown[]> {
  await db.write((tx) => tx.run('delete from item'))
  const outcomes: unknown[] = []
  for (const { statements, together, fails } of writes) {
    const each: unknown[] = []
    const work = async (tx: Transaction) => {
      each.length = 0
      const pending: Promise<unknown>[] = []
      for (const one of statements) {
        const outcome = outcomeOf(run(tx, one))
        pending.push(outcome)
        if (!together) await outcome
      }
      each.push(...(await Promise.all(pending)))
      if (fails) throw new Error('given up')
    }
    outcomes.push(
      await outcomeOf(db.write(work)),
      each,
      await outcomeOf(db.all('select * from item order by id')),
    )
    const reads = statements.filter((one) => one.kind === 'all')
    outcomes.push(await Promise.all(reads.map(({ sql, values }) => outcomeOf(db.all(sql, ...values)))))
  }
  return outcomes
}

function run(tx: Transaction, one: Statement): Promise<unknown> {
  if (one.kind === 'insert') {
    const { rows, ignoreExisting } = one
    return tx.insert('item', ['id', 'name', 'data', 'amount'], rows, { ignoreExisting })
  }
  return one.kind === 'run' ? tx.run(one.sql, ...one.values) : tx.all(one.sql, ...one.values)
}

/** The result, or the kind and message of the error. */
async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return (await work) ?? null
  } catch (error) {
    if (error instanceof DatabaseError) return [error.reason, error.message]
    return error instanceof Error ? [error.name, error.message] : error
  }
}
