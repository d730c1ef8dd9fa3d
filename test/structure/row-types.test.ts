import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { prepareSchema } from '../../src/derived/search/search-schema-store.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { GAP, type Kind, TypedQueries, type TypedQuery } from './row-types.ts'

const root = path.join(import.meta.dirname, '../..')

/** What stands for a part of a statement that is only known at runtime. The first one that SQLite understands counts. */
const FILLERS = ['?', '', '1 = 1', 'where 1 = 1', 'and 1 = 1', 'key', "''"]

/** How many queries of a file are not compared: their text is computed while they run, or SQLite does not understand it. */
const NOT_COMPARED = {
  'derived/activity/activity-store.ts': 1,
  'derived/activity/live-event-store.ts': 1,
  'derived/annotations/comment-word-store.ts': 1,
  'derived/photos/timeline-store.ts': 1,
  'derived/search/match-store.ts': 3,
  'derived/search/text-store.ts': 1,
  'libraries/edits/bound-paths-store.ts': 2,
  'libraries/push/received-store.ts': 1,
  'maintenance/check/binding-faults-store.ts': 1,
  'maintenance/gc/lease-store.ts': 2,
  'people/credentials/scoped-token-store.ts': 1,
  'platform/cluster/node-store.ts': 1,
  'platform/database/inspect.ts': 2,
  'platform/database/postgres/postgres-database.ts': 3,
  'platform/database/postgres/postgres-snapshot.ts': 2,
  'platform/database/postgres/postgres-transaction.ts': 1,
}

interface Column {
  readonly name: string
  /** As declared; null for an expression. */
  readonly type: string | null
}

describe('the rows that queries declare', () => {
  let folder = ''
  let db: DatabaseSync
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-rows-'))
    const file = path.join(folder, 'carrel.db')
    await using migrated = await openDatabase({ kind: 'sqlite', file }, { onFatal: () => {} })
    await prepareSchema(migrated)
    db = new DatabaseSync(file, { readOnly: true })
  })
  after(async () => {
    db.close()
    await rm(folder, { recursive: true })
  })

  const columnsOf = (text: string): Column[] | undefined => {
    for (const filler of text.includes(GAP) ? FILLERS : ['']) {
      try {
        return db.prepare(text.replaceAll(GAP, filler)).columns()
      } catch {}
    }
    return undefined
  }

  it('have columns of the types that the migrations give them', () => {
    const queries = new TypedQueries(root)
    const all = globSync('src/**/*.ts', { cwd: root })
      .filter((file) => !file.endsWith('.test.ts') && !file.includes('/migrations/'))
      .sort()
      .flatMap((file) => queries.of(file))
    const problems: string[] = []
    const unread: string[] = []
    for (const query of all) {
      const read = query.texts.map(columnsOf)
      if (read.every((columns) => columns === undefined)) unread.push(query.place)
      for (const columns of read) if (columns) problems.push(...problemsOf(query, columns))
    }
    assert.deepEqual([...new Set(problems)], [])
    const files = Object.groupBy(unread, (place) => place.replace(/^src\/(.*):\d+$/, '$1'))
    const counts = Object.fromEntries(
      Object.entries(files).map(([file, places = []]) => [file, places.length]),
    )
    assert.deepEqual(counts, NOT_COMPARED)
  })
})

function problemsOf({ place, fields }: TypedQuery, columns: readonly Column[]): string[] {
  return [...fields].flatMap(([name, kinds]) => {
    const column = columns.find((one) => one.name === name)
    if (column === undefined)
      return [`${place}: no column ${name} among ${columns.map((one) => one.name).join(', ')}`]
    const kind = kindOf(column)
    if (kind === 'any' || kinds.has('any') || kinds.has(kind)) return []
    return [`${place}: the column ${name} is ${kind}, not ${[...kinds].join(' or ')}`]
  })
}

function kindOf({ type }: Column): Kind {
  const known: Record<string, Kind> = {
    integer: 'number',
    bigint: 'number',
    real: 'number',
    text: 'string',
    blob: 'bytes',
  }
  return known[type?.toLowerCase() ?? ''] ?? 'any'
}
