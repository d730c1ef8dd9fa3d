import { closeSync, openSync, rmSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { Value } from '../database.ts'
import { DatabaseError, type DatabaseReason } from '../errors.ts'
import { insertStatement } from '../statement-texts.ts'
import { Connection, primaryCode } from './connection.ts'
import { erasingSettings, prepareNewFile, stepOf } from './free-pages.ts'

/** A request to the thread. */
export type ThreadRequest =
  | { readonly op: 'all' | 'get' | 'run'; readonly sql: string; readonly parameters: readonly Value[] }
  | {
      readonly op: 'insert'
      readonly table: string
      readonly columns: readonly string[]
      readonly rows: readonly (readonly Value[])[]
      readonly ignoreExisting: boolean
    }
  /** Gives at most that many free pages back to the file system. */
  | { readonly op: 'release-pages'; readonly most: number }
  /** Copies the log and truncates it, unless a reader is using it. */
  | { readonly op: 'truncate-log' }
  | { readonly op: 'begin' | 'commit' | 'rollback' | 'close' }

export interface ThreadData {
  readonly file: string
  readonly role: 'reader' | 'writer'
}

export type ThreadReply =
  | { readonly result: unknown }
  | { readonly reason: DatabaseReason; readonly message: string }

const busyTimeoutMs = 10_000
// Result codes of a file that is damaged or not a database.
const damaged = [11, 26]

const { file, role } = workerData as ThreadData
let connection: Connection | undefined

parentPort?.on('message', (request: ThreadRequest) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(reply(request))
})

function reply(request: ThreadRequest): ThreadReply {
  try {
    return { result: perform(request) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { reason: error instanceof DatabaseError ? error.reason : 'other', message }
  }
}

function perform(request: ThreadRequest): unknown {
  if (request.op === 'close') {
    connection?.close()
    connection = undefined
    return undefined
  }
  connection ??= openOrReplace()
  switch (request.op) {
    case 'all':
    case 'get':
    case 'run':
      return connection[request.op](request.sql, request.parameters)
    case 'insert':
      return insert(connection, request)
    case 'release-pages':
      return releasePages(connection, request.most)
    case 'truncate-log':
      return truncateLog(connection)
    case 'begin':
      return connection.exec('begin immediate')
    case 'commit':
      return connection.exec('commit')
    case 'rollback':
      return connection.handle.isTransaction ? connection.exec('rollback') : undefined
  }
}

function insert(
  to: Connection,
  { table, columns, rows, ignoreExisting }: ThreadRequest & { op: 'insert' },
): number {
  const sql = insertStatement(table, columns, 1, ignoreExisting)
  let inserted = 0
  for (const row of rows) inserted += to.run(sql, row)
  return inserted
}

function releasePages(from: Connection, most: number): unknown {
  from.exec('begin immediate')
  try {
    const step = stepOf(from, most)
    from.exec('commit')
    return step
  } catch (error) {
    if (from.handle.isTransaction) from.exec('rollback')
    throw error
  }
}

function truncateLog(of: Connection): void {
  of.exec('pragma busy_timeout = 0')
  try {
    of.get('pragma wal_checkpoint(truncate)', [])
  } finally {
    of.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
  }
}

/** The file holds derived data (I3), so a damaged one is deleted and rebuilt. */
function openOrReplace(): Connection {
  try {
    return open()
  } catch (error) {
    if (role !== 'writer' || !isDamaged(error)) throw error
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
    return open()
  }
}

// Commits are flushed in this thread (synchronous = full), so the recorded position is never ahead of the index.
function open(): Connection {
  closeSync(openSync(file, 'a', 0o600))
  const opened = new Connection(file, busyTimeoutMs)
  try {
    opened.exec('pragma page_size = 4096')
    prepareNewFile(opened)
    opened.exec('pragma journal_mode = wal')
    opened.exec(`pragma temp_store = memory; pragma case_sensitive_like = on; ${erasingSettings}`)
    opened.exec(role === 'writer' ? 'pragma synchronous = full; pragma cache_size = -16384' : readerSettings)
    opened.get('select count(*) from sqlite_schema', [])
    return opened
  } catch (error) {
    opened.close()
    throw error
  }
}

const readerSettings = 'pragma query_only = on; pragma cache_size = -32768'

function isDamaged(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'errcode' in cause && damaged.includes(primaryCode(Number(cause.errcode)))
}
