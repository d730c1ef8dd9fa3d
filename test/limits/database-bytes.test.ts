import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { Client as Connection } from 'pg'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { findPostgres } from '../support/postgres.ts'
import { ADMIN } from '../support/server.ts'
import { eventually, filePart, formBytes, postBody, uploadLink } from '../support/transfer.ts'

// What small files take in PostgreSQL, by table. With CARREL_TEST_WRITE=1 the table of the document is written anew from what was measured.

const DOCUMENT = path.join(import.meta.dirname, '../../bench/work-budgets.md')
const HEADING = '## Bytes in PostgreSQL'
const FOLDERS = 40
const FILES = 1000
const FILES_PER_UPLOAD = 10
const SMALL = 100
/** Indexes grow by pages, and what the tasks after commits do together differs. */
const TOLERANCE = 1.1
/** For a file: tables that take less differ by a page or two. */
const LEAST = 25
const OTHERS = 'all others'
const ALL = 'all'
const LOG = 'log of an upload of 4 KiB'

// Without full-page images in the log, which depend on the time between two checkpoints.
const postgres = await findPostgres({ fsync: false, alone: true })
const skip = typeof postgres === 'string' ? postgres : false

it('stores small files within their budget on PostgreSQL', { skip }, async (t) => {
  assert.ok(typeof postgres === 'object')
  await using stack = new AsyncDisposableStack()
  stack.use(postgres)
  const url = await postgres.createWithSchema()
  const db = new Connection({ connectionString: url })
  await db.connect()
  stack.defer(() => db.end())
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-bytes-'))
  stack.defer(() => rm(data, { recursive: true, force: true }))
  const server = stack.use(await spawnServer(data, { CARREL_DATABASE: url }))
  const uploads = await Uploads.create(server.url, db)
  // Fills what is kept free and used again: the list of the index of names, and folders that are stored as a difference to others.
  await uploads.send({ count: 10, files: 100, bytes: SMALL })
  const before = await bytesByTable(db)
  await uploads.send({ count: FILES / FILES_PER_UPLOAD, files: FILES_PER_UPLOAD, bytes: SMALL })
  const grown = growth(before, await bytesByTable(db))
  const position = await logPosition(db)
  const single = 100
  await uploads.send({ count: single, files: 1, bytes: 4096 })
  grown.set(LOG, Math.round(((await logPosition(db)) - position) / single))
  if (process.env['CARREL_TEST_WRITE'] === '1') return write(grown)
  const budget = read()
  assert.deepEqual([...grown.keys()].sort(), [...budget.keys()].sort(), 'the rows of the table')
  const exceeded: string[] = []
  for (const [name, bytes] of grown) {
    const most = budget.get(name) ?? 0
    if (bytes > most * TOLERANCE + (name === ALL || name === LOG ? 0 : LEAST))
      exceeded.push(`${name}: ${bytes}, budget ${most}`)
    if (bytes < most / TOLERANCE - LEAST) t.diagnostic(`${name}: ${bytes} instead of ${most}: lower the row`)
  }
  assert.deepEqual(exceeded, [])
})

class Uploads {
  readonly #link: string
  readonly #db: Connection
  readonly #folders = new Set<string>()
  #made = 0

  private constructor(link: string, db: Connection) {
    this.#link = link
    this.#db = db
  }

  static async create(url: string, db: Connection): Promise<Uploads> {
    const client = await Client.signIn(url, ADMIN.email, ADMIN.password)
    const library = await client.createLibrary('Measured')
    return new Uploads(await uploadLink(client, library), db)
  }

  /** Resolves when the tasks that follow are done, too. */
  async send({ count, files, bytes }: { count: number; files: number; bytes: number }): Promise<void> {
    for (let n = 0; n < count; n++) {
      const parts = Array.from({ length: files }, () => filePart(this.#newName(), randomBytes(bytes)))
      const folder = `folder-${n % FOLDERS}`
      this.#folders.add(folder)
      const fields: [string, string][] = [
        ['parent_dir', '/'],
        ['relative_path', folder],
      ]
      const { status, text } = await postBody(this.#link, formBytes([...fields, ...parts]))
      assert.equal(status, 200, text)
    }
    await this.#settled()
  }

  /** As scans and photos are called, of 26 characters. */
  #newName(): string {
    const n = this.#made++
    const day = String((n % 28) + 1).padStart(2, '0')
    return `Scan 2026-07-${day} ${String(n * 7919 + 1e7)}.bin`
  }

  /** All tables of derived rows are written in one transaction. */
  async #settled(): Promise<void> {
    await eventually(async () => {
      const { rows } = await this.#db.query<{ found: string }>('select count(*) as found from search_entry')
      assert.equal(Number(rows[0]?.found), this.#made + this.#folders.size)
    })
  }
}

async function bytesByTable(db: Connection): Promise<Map<string, number>> {
  await db.query('vacuum')
  // Receipts and live events are deleted again after minutes.
  const { rows } = await db.query<{ name: string; bytes: string }>(
    `select relname as name, pg_table_size(oid) + pg_indexes_size(oid) as bytes from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace
       and relname not in ('committed_transaction', 'live_event')`,
  )
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]))
}

/** Bytes for each file. */
function growth(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Map<string, number> {
  const all = Array.from(after, ([name, bytes]): [string, number] => [
    name,
    Math.round((bytes - (before.get(name) ?? 0)) / FILES),
  ])
  const large = all.filter(([, bytes]) => bytes >= LEAST).sort(([, a], [, b]) => b - a)
  const sum = (rows: readonly [string, number][]) => rows.reduce((total, [, bytes]) => total + bytes, 0)
  return new Map([...large, [OTHERS, sum(all) - sum(large)], [ALL, sum(all)]])
}

async function logPosition(db: Connection): Promise<number> {
  const { rows } = await db.query<{ at: string }>("select pg_current_wal_insert_lsn() - '0/0' as at")
  return Number(rows[0]?.at)
}

function read(): Map<string, number> {
  const cells = section()
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()))
  return new Map(cells.map(([, name = '', bytes]) => [name.replaceAll('`', ''), Number(bytes)]))
}

function write(rows: ReadonlyMap<string, number>): void {
  const isTable = (name: string) => ![OTHERS, ALL, LOG].includes(name)
  const lines = Array.from(rows, ([name, bytes]) => `| ${isTable(name) ? `\`${name}\`` : name} | ${bytes} |`)
  const text = readFileSync(DOCUMENT, 'utf8')
  writeFileSync(DOCUMENT, text.replace(section(), ['| Of | Bytes |', '| --- | ---: |', ...lines].join('\n')))
}

/** The table below the heading. */
function section(): string {
  const text = readFileSync(DOCUMENT, 'utf8')
  const [table] = /^\|.*(?:\n\|.*)*/m.exec(text.slice(text.indexOf(HEADING))) ?? []
  return table ?? assert.fail(`${DOCUMENT} has no table of bytes`)
}
