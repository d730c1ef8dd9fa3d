import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { StartError } from '../../base/errors.ts'
import { listLiveNodes } from '../../platform/cluster/index.ts'
import {
  bulkLoad,
  type Database,
  type DatabaseSetting,
  type DatabaseSnapshot,
  inspectDatabase,
  nameOfDatabase,
  openDatabase,
  openSnapshot,
  type SnapshotTable,
  type Value,
} from '../../platform/database/index.ts'
import {
  type MoveMarks,
  markCopy,
  markFilled,
  markMoved,
  markMoving,
  readMarks,
  unmarkMoved,
} from './move-marks.ts'

/** Belong to a database or to running processes. The search index is derived, and made again. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'schema_migration',
  'cluster_node',
  'cluster_lease',
  'cluster_value',
  'committed_transaction',
  'operation_lease',
])
/** Tables that say which schema the others have. */
const SCHEMA_TABLES: ReadonlySet<string> = new Set(['schema_migration', 'search_schema', 'cluster_value'])

const isSearchTable = (name: string) => name.startsWith('search_')
const isCopied = ({ name }: SnapshotTable) => !LEFT_OUT.has(name) && !isSearchTable(name)

/** Progress of a move, for the terminal. */
export interface MoveStep {
  readonly step: 'copy' | 'compare'
  readonly table: string
  /** Of the table, so far. */
  readonly rows: number
}

interface MoveOptions {
  readonly from: DatabaseSetting
  readonly to: DatabaseSetting
  readonly onStep?: (step: MoveStep) => void | Promise<void>
}

/** What a move did. */
interface MoveReport {
  readonly from: string
  readonly to: string
  readonly tables: number
  readonly rows: number
  /** An earlier run had copied and compared everything. */
  readonly isRepeated: boolean
}

/** A move in progress. */
interface Move {
  readonly id: string
  readonly from: DatabaseSetting
  readonly to: DatabaseSetting
  /** Where the rows are copied to: a SQLite database gets its name last, so that a file with that name is complete. */
  readonly filled: DatabaseSetting
  readonly onStep: (step: MoveStep) => void | Promise<void>
}

/**
 * Copies all rows of a server that is stopped to another database, and compares them. The source is only marked, so that no server starts on it by accident. A killed
 * run is continued by the next. Throws StartError if a server runs, or if the target has other data. The caller holds the lock of the data folder.
 */
export async function moveDatabase({ from, to, onStep = () => {} }: MoveOptions): Promise<MoveReport> {
  const names = { from: nameOfDatabase(from), to: nameOfDatabase(to) }
  if (names.from === names.to) throw new StartError('Both databases are the same: name another one.')
  await using source = await openDatabase(from, { onFatal })
  const marks = await readMarks(source)
  if (marks.copyOf !== undefined)
    throw new StartError('The database to be moved is an unfinished copy itself.')
  if (marks.movedTo !== undefined && marks.movedTo.name !== names.to) {
    throw new StartError(
      `A move to the database ${marks.movedTo.name} was begun: finish it, or end it with carrel migrate --cancel.`,
    )
  }
  const id = marks.movedTo?.id ?? randomUUID()
  const filled: DatabaseSetting = to.kind === 'sqlite' ? { ...to, file: `${to.file}.moving` } : to
  const move: Move = { id, from, to, filled, onStep }
  const found = await examineTarget(move, marks)
  if (found === 'complete' && marks.movedTo?.isDone === true) {
    return { ...names, tables: 0, rows: 0, isRepeated: true }
  }
  if (marks.movedTo?.isDone === true) {
    throw new StartError(
      `The data was moved to the database ${names.to}, which does not have it any more: run carrel migrate --cancel to use this one again.`,
    )
  }
  await claimSource(source, move, marks)
  const copied = found === 'complete' ? { tables: 0, rows: 0 } : await fill(move, found)
  await putInPlace(move)
  await source.write((tx) => markMoved(tx, id, names.to))
  return { ...names, ...copied, isRepeated: found === 'complete' }
}

/** Lets servers use a database again that was moved or is being moved. False if it is neither. */
export async function cancelMove(setting: DatabaseSetting): Promise<boolean> {
  await using db = await openDatabase(setting, { onFatal })
  const { movedTo } = await readMarks(db)
  if (movedTo === undefined) return false
  await db.write((tx) => unmarkMoved(tx))
  return true
}

/** Marks the source, so that no server starts on it, and then looks for one that runs. A start does it the other way round. */
async function claimSource(source: Database, { id, to }: Move, { movedTo }: MoveMarks): Promise<void> {
  await source.write((tx) => markMoving(tx, id, nameOfDatabase(to)))
  // A SQLite file belongs to the data folder, whose lock is held.
  if (source.dialect === 'sqlite') return
  const running = await listLiveNodes(source, source.dialect)
  if (running.length === 0) return
  if (movedTo === undefined) await source.write((tx) => unmarkMoved(tx))
  const addresses = running.map(({ address }) => address).join(', ')
  throw new StartError(
    `Servers still use the database (${addresses}): stop them, and run this command again. One that was killed counts for 30 seconds.`,
  )
}

/** `empty` has to be filled from the beginning, `begun` has some of the rows, `complete` has all of them. */
type TargetState = 'empty' | 'begun' | 'complete'

/** Throws StartError if the target has data of another server, or of this one that would be lost. */
async function examineTarget(move: Move, source: MoveMarks): Promise<TargetState> {
  const { id, to, filled } = move
  const existing = await examine(to)
  if (existing?.marks.movedFrom === id) return 'complete'
  const isPredecessor =
    source.movedFrom !== undefined &&
    existing?.marks.movedTo?.isDone === true &&
    existing.marks.movedTo.id === source.movedFrom
  const isFree = existing === undefined || existing.isUnused || isPredecessor
  const isCopy = existing?.marks.copyOf !== undefined
  if (!isFree && !isCopy) {
    throw new StartError(
      to.kind === 'sqlite'
        ? `There is other data in ${to.file}: move this file away. Nothing was changed.`
        : `There is other data in the database ${nameOfDatabase(to)}: name an empty one. Nothing was changed.`,
    )
  }
  const marks: MoveMarks = (filled === to ? existing : await examine(filled))?.marks ?? {}
  if (filled !== to && marks.movedFrom === id) return 'complete'
  if (marks.copyOf?.id === id && marks.copyOf.table !== '') return 'begun'
  if (filled !== to && filled.kind === 'sqlite') await removeSqlite(filled.file)
  return 'empty'
}

interface ExaminedDatabase {
  readonly marks: MoveMarks
  /** It has no data of a server, nor of another program. */
  readonly isUnused: boolean
}

async function examine(setting: DatabaseSetting): Promise<ExaminedDatabase | undefined> {
  await using found = await inspectDatabase(setting)
  if (found === undefined) return undefined
  if (found.schemaVersion === 0) return { marks: {}, isUnused: !found.hasTables }
  const marks = await readMarks(found, found.schemaVersion)
  await using snapshot = await openSnapshot(setting)
  // Every server that was started has an account.
  const { done } = await snapshot.rows({ name: 'account', columns: ['key'] }).next()
  return { marks, isUnused: done === true && marks.movedTo === undefined }
}

/** Copies and compares. Everything is durable when it resolves. */
async function fill(move: Move, state: TargetState): Promise<{ tables: number; rows: number }> {
  await using target = await openDatabase(move.filled, { onFatal })
  if (state === 'empty') await emptyTarget(target, move)
  const copied = await copyRows(target, move)
  const differing = await compareRows(move)
  if (differing.length > 0) {
    await target.write((tx) => markCopy(tx, move.id))
    throw new StartError(
      `The copy is not equal to the original (${differing.join('; ')}). The original is unchanged: run the same command again, which copies everything again.`,
    )
  }
  await target.write((tx) => markFilled(tx, move.id))
  return copied
}

/** Deletes all rows of the target: the initial data of migrations, an incomplete copy, or stale data from before an earlier move. */
async function emptyTarget(target: Database, { id, filled }: Move): Promise<void> {
  await using snapshot = await openSnapshot(filled)
  const tables = snapshot.tables.filter(({ name }) => !SCHEMA_TABLES.has(name))
  await target.write(
    async (tx) => {
      await bulkLoad.empty(tx, tables)
      await unmarkMoved(tx)
      await markCopy(tx, id)
    },
    { isLong: true },
  )
}

/** Each transaction also stores how many rows of its table are copied. The source does not change, so its rows keep their order. */
async function copyRows(target: Database, move: Move): Promise<{ tables: number; rows: number }> {
  await using snapshot = await openSnapshot(move.from)
  const tables = snapshot.tables.filter(isCopied)
  const { copyOf } = await readMarks(target)
  const begun = tables.findIndex(({ name }) => name === copyOf?.table)
  let rows = 0
  for (const table of tables.slice(Math.max(0, begun))) {
    const { name } = table
    const earlier = name === copyOf?.table ? copyOf.rows : 0
    const left = skipRows(snapshot.rows(table), earlier)
    const onPage = (count: number) => move.onStep({ step: 'copy', table: name, rows: earlier + count })
    rows += await bulkLoad.load(target, table, counted(left, onPage), (tx, count) =>
      markCopy(tx, move.id, name, earlier + count),
    )
  }
  await bulkLoad.restoreSequences(target, sequencesOf(snapshot))
  return { tables: tables.length, rows }
}

async function* skipRows(
  pages: AsyncIterable<Value[][]>,
  count: number,
): AsyncGenerator<readonly Value[][], void> {
  let left = count
  for await (const page of pages) {
    if (left < page.length) yield left > 0 ? page.slice(left) : page
    left = Math.max(0, left - page.length)
  }
}

/** Reports the number of rows before each page. */
async function* counted(
  pages: AsyncIterable<readonly Value[][]>,
  onPage: (rows: number) => void | Promise<void>,
): AsyncGenerator<readonly Value[][], void> {
  let rows = 0
  for await (const page of pages) {
    await onPage(rows)
    rows += page.length
    yield page
  }
}

/** Describes the tables that differ. */
async function compareRows({ from, filled, onStep }: Move): Promise<string[]> {
  await using original = await openSnapshot(from)
  await using copy = await openSnapshot(filled)
  const differing: string[] = []
  for (const table of original.tables.filter(isCopied)) {
    await onStep({ step: 'compare', table: table.name, rows: 0 })
    const [wanted, found] = await Promise.all([
      digestRows(original.rows(table)),
      digestRows(copy.rows(table)),
    ])
    if (wanted.rows !== found.rows) {
      differing.push(`the table ${table.name} has ${found.rows} rows instead of ${wanted.rows}`)
    } else if (wanted.hash !== found.hash) differing.push(`the table ${table.name} has other rows`)
  }
  const [wanted, found] = [sequencesOf(original), sequencesOf(copy)]
  for (const [table, last] of wanted) {
    if (found.get(table) !== last) differing.push(`the keys of the table ${table} do not go on after ${last}`)
  }
  return differing
}

function sequencesOf({ sequences, tables }: DatabaseSnapshot): Map<string, number> {
  const copied = new Set(tables.filter(isCopied).map(({ name }) => name))
  return new Map([...sequences].filter(([table, last]) => copied.has(table) && last > 0))
}

/** Gives a filled SQLite file its name. The file that had it was marked as moved by an earlier move, and is kept beside it. */
async function putInPlace({ to, filled }: Move): Promise<void> {
  if (to.kind !== 'sqlite' || filled.kind !== 'sqlite' || !existsSync(filled.file)) return
  const folder = path.dirname(to.file)
  await foldLog(filled)
  // The index of an earlier time with this database.
  await removeSqlite(path.join(folder, 'search.db'))
  if (existsSync(to.file)) {
    await foldLog(to)
    await rename(to.file, `${to.file}.moved`)
  }
  await rename(filled.file, to.file)
  await using handle = await open(folder, 'r')
  await handle.sync()
}

/** Moves the write-ahead log into the file: it must not be left beside another file of the same name. */
async function foldLog(setting: DatabaseSetting & { kind: 'sqlite' }): Promise<void> {
  const db = await openDatabase(setting, { onFatal })
  await db[Symbol.asyncDispose]()
  if (existsSync(`${setting.file}-wal`)) {
    throw new StartError(`Another program has ${setting.file} open: end it, and run this command again.`)
  }
}

async function removeSqlite(file: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(file + suffix, { force: true })
}

function onFatal(error: Error): never {
  throw new StartError('The database cannot be written: see that the disk is sound.', { cause: error })
}

/** The number of rows of a table, and a hash of their content that does not depend on their order. */
interface TableDigest {
  readonly rows: number
  /** 64 hexadecimal digits. */
  readonly hash: string
}

const BITS = 256
const HEX_DIGITS = BITS / 4

/**
 * Adds up the SHA-256 of every row. Databases return rows in different orders, and sorting them would take memory or time. The sum is a checksum: it
 * detects rows that were lost, duplicated or corrupted. It is not collision resistant against chosen rows.
 */
async function digestRows(pages: AsyncIterable<readonly Value[][]>): Promise<TableDigest> {
  let rows = 0
  let sum = 0n
  for await (const page of pages) {
    let ofPage = 0n
    for (const row of page) ofPage += BigInt(`0x${hashOf(row)}`)
    rows += page.length
    sum = BigInt.asUintN(BITS, sum + ofPage)
  }
  return { rows, hash: sum.toString(16).padStart(HEX_DIGITS, '0') }
}

/** A JSON line in which bytes are replaced by their length, then the bytes: no two rows have the same encoding. */
function hashOf(row: readonly Value[]): string {
  const hash = createHash('sha256')
  hash.update(JSON.stringify(row.map((value) => (value instanceof Uint8Array ? [value.length] : value))))
  for (const value of row) if (value instanceof Uint8Array) hash.update(value)
  return hash.digest('hex')
}
