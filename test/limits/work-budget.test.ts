import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { cannotBuildShim } from '../support/io-shim.ts'
import { postgresOrSkip } from '../support/postgres.ts'
import { PostgresProxy } from '../support/postgres-proxy.ts'
import { type BudgetedCall, createCalls } from './work/calls.ts'
import { CountedServer, type Work } from './work/counted-server.ts'

// Counts that do not depend on the machine: what one call makes the server do. With CARREL_TEST_WRITE=1 the table is written anew from what was measured.

const TABLE = path.join(import.meta.dirname, '../../bench/work-budgets.md')
const COLUMNS = {
  statements: 'Statements',
  transactions: 'Transactions',
  roundTrips: 'Round trips',
  versionReads: 'Version reads',
  fileCalls: 'File calls',
  syncs: 'Syncs',
  promises: 'Promises',
  bytesHashed: 'Bytes hashed',
} as const satisfies Record<keyof Work, string>
const ALLOCATED = 'KB allocated'
const HEADINGS = [...Object.values(COLUMNS), ALLOCATED]
const WARM_UP = 6
const ROUNDS = 4
const TRIES = 8
/** Calls in a batch whose allocations are measured. */
const BATCH = 8
/** Of what is allocated: code that is compiled or optimized meanwhile allocates, too. */
const ALLOCATION_TOLERANCE = 1.5
/** Of calls with tasks behind them, which find more or less to do together. */
const TASK_TOLERANCE = 1.1
/** Bytes of a list that is hashed for its entity tag: "9 seconds ago" becomes "10 seconds ago" while the test runs. */
const HASHED_TOLERANCE = 8

/** Counts by heading. Allocations are measured of calls without tasks behind them. */
type Row = Partial<Record<string, number>>
type Database = 'SQLite' | 'PostgreSQL'

const skip = cannotBuildShim()

describe('the work of a call', { skip }, () => {
  it('stays within its budget on SQLite', (t) => check('SQLite', t))

  it('stays within its budget on PostgreSQL', async (t) => {
    await using postgres = await postgresOrSkip(t)
    if (postgres === undefined) return
    await using proxy = await PostgresProxy.start(await postgres.createWithSchema())
    await check('PostgreSQL', t, proxy)
  })
})

async function check(
  database: Database,
  t: { diagnostic(text: string): void },
  proxy?: PostgresProxy,
): Promise<void> {
  const isWriting = process.env['CARREL_TEST_WRITE'] === '1'
  const budgets = read(database)
  const rows = new Map<string, Row>()
  const exceeded: string[] = []
  await using stack = new AsyncDisposableStack()
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-work-'))
  stack.defer(() => rm(data, { recursive: true, force: true }))
  const server = stack.use(await CountedServer.start(data, proxy))
  for (const call of await createCalls(server.url, stack)) {
    // Until what the calls before have left to do is done, too.
    for (let n = 1; n <= WARM_UP; n++) {
      await server.workOf(call.run, { settles: n === WARM_UP })
      await call.undo?.()
    }
    await server.quiet()
    const budget = budgets.get(call.name) ?? {}
    let row = await measure(server, call)
    // Timers and code that is compiled add to a call, and never subtract: what is too much each time is too much.
    const most = isWriting ? 1 : TRIES
    for (let tries = 1; tries < most && excessOf(row, budget).length > 0; tries++)
      row = leastOf(row, await measure(server, call))
    rows.set(call.name, row)
    exceeded.push(
      ...excessOf(row, budget).map(
        (heading) => `${call.name}: ${heading} ${row[heading]}, budget ${budget[heading]}`,
      ),
    )
    const lower = HEADINGS.filter((heading) => heading !== ALLOCATED && isLess(row[heading], budget[heading]))
    if (lower.length > 0) t.diagnostic(`${call.name}: less of ${lower.join(', ')}: lower the row`)
  }
  if (isWriting) return write(database, rows)
  assert.deepEqual([...rows.keys()], [...budgets.keys()], 'the rows of the table are not the calls')
  assert.deepEqual(exceeded, [])
}

async function measure(server: CountedServer, { run, undo, settles = false }: BudgetedCall): Promise<Row> {
  let least: Row = {}
  for (let n = 0; n < ROUNDS; n++) {
    const work = await server.workOf(run, { settles })
    const row = Object.fromEntries(
      Object.entries(COLUMNS).map(([column, heading]) => [heading, work[column as keyof Work]]),
    )
    least = leastOf(least, row)
    if (undo === undefined) continue
    await undo()
    await server.quiet()
  }
  if (settles) return least
  const batch = async () => {
    for (let n = 0; n < BATCH; n++) await run()
  }
  const allocated: number[] = []
  for (let n = 0; n < ROUNDS; n++) {
    const bytes = await server.allocatedBy(batch)
    if (bytes !== undefined) allocated.push(Math.ceil(bytes / BATCH / 1024))
  }
  // The middle one: a collection that nobody reported makes it too small.
  const middle = allocated.sort((a, b) => a - b)[allocated.length >> 1]
  return middle === undefined ? least : { ...least, [ALLOCATED]: middle }
}

function leastOf(one: Row, other: Row): Row {
  const headings = HEADINGS.filter((heading) => heading in one || heading in other)
  return Object.fromEntries(
    headings.map((heading) => [heading, Math.min(one[heading] ?? Infinity, other[heading] ?? Infinity)]),
  )
}

/** The headings of what exceeds the budget. */
function excessOf(row: Row, budget: Row): string[] {
  return HEADINGS.filter((heading) => {
    const [count, most] = [row[heading], budget[heading]]
    if (count === undefined || most === undefined) return false
    const tolerance = heading === ALLOCATED ? ALLOCATION_TOLERANCE : ALLOCATED in budget ? 1 : TASK_TOLERANCE
    return count > Math.ceil(most * tolerance) + (heading === COLUMNS.bytesHashed ? HASHED_TOLERANCE : 0)
  })
}

const isLess = (count: number | undefined, budget: number | undefined) =>
  count !== undefined && budget !== undefined && count < budget

function read(database: Database): Map<string, Row> {
  const rows = new Map<string, Row>()
  for (const line of sectionOf(readFileSync(TABLE, 'utf8'), database).split('\n').slice(2)) {
    const [name = '', ...cells] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    const known = HEADINGS.map((heading, at) => [heading, cells[at]] as const).filter(
      ([, cell]) => cell !== '',
    )
    if (name !== '')
      rows.set(name, Object.fromEntries(known.map(([heading, cell]) => [heading, Number(cell)])))
  }
  return rows
}

function write(database: Database, rows: Map<string, Row>): void {
  const lines = [...rows].map(
    ([name, row]) => `| ${name} | ${HEADINGS.map((heading) => row[heading] ?? '').join(' | ')} |`,
  )
  const table = [
    `| Call | ${HEADINGS.join(' | ')} |`,
    `| --- |${HEADINGS.map(() => ' ---: |').join('')}`,
    ...lines,
  ].join('\n')
  const text = readFileSync(TABLE, 'utf8')
  writeFileSync(TABLE, text.replace(sectionOf(text, database), table))
}

/** The table below the heading of a database. */
function sectionOf(text: string, database: Database): string {
  const [, table] = new RegExp(`^## ${database}\\n\\n((?:\\|.*\\n?)+)`, 'm').exec(text) ?? []
  return table?.trimEnd() ?? assert.fail(`${TABLE} has no table of ${database}`)
}
