import assert from 'node:assert/strict'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { carrelProcess } from '../support/command.ts'
import { bytesBelow } from './samples.ts'

/** The disk use of a stopped server from which garbage collection has removed everything it can. */
export interface Settled {
  /** Sum of the sizes of all libraries, in bytes. */
  readonly liveBytes: number
  /** Allocated by all files of the data folder: blocks, databases, and what else there is. */
  readonly diskBytes: number
  /** The part of it that tables of past events take, with their indexes. */
  readonly logBytes: number
  /** Operations of the load. */
  readonly operations: number
  /** Before that, in bytes. */
  readonly unsettledBytes: number
  /** Collections until one found nothing to do. */
  readonly collections: number
}

/**
 * What the disk may use beyond the live bytes and the logs: empty databases and their indexes, rows of files and commits, and the last part of
 * the last disk block of each file. Does not depend on how long or how fast the load was.
 */
const OVERHEAD = { bytes: 4_000_000, share: 0.02 }

/**
 * Tables that get rows with every operation and keep them by design (docs/data-model.md): the feed as long as the library, the audit log for
 * ever, live events up to a number of rows, tickets and tasks for an hour and until the next maintenance.
 */
const LOG_TABLES = ['activity', 'audit_entry', 'live_event', 'ticket', 'copy_move_task', 'notification']
/** An operation causes up to three events of the feed, with about 160 bytes each, a ticket and an audit entry now and then: 200 bytes on average. Live events take 6 MB at most. */
const LOG_OVERHEAD = { bytes: 8_000_000, perOperation: 250 }

const MAX_COLLECTIONS = 10

/** Collects until nothing is condemned or deleted any more. The server must be stopped. */
export async function settle(data: string, live: number, operations: number): Promise<Settled> {
  const unsettledBytes = await bytesBelow(data)
  for (let collections = 1; collections <= MAX_COLLECTIONS; collections += 1) {
    const report = JSON.parse(await run(['gc', '--json', '--gc-grace-seconds', '0', '--data', data]))
    const counts = [...Object.values(report.condemned), ...Object.values(report.deleted)]
    if (counts.every((count) => count === 0)) {
      const diskBytes = await bytesBelow(data)
      return {
        liveBytes: live,
        diskBytes,
        logBytes: logBytesOf(data),
        operations,
        unsettledBytes,
        collections,
      }
    }
  }
  throw new Error(`garbage collection still found something after ${MAX_COLLECTIONS} collections`)
}

/** Nothing is lost or damaged, and all derived values agree. */
export async function checkData(data: string): Promise<void> {
  await run(['check', '--read-data', '--data', data])
}

export function isSettledSmall({ liveBytes: live, diskBytes, logBytes, operations }: Settled): boolean {
  if (diskBytes < live || logBytes > LOG_OVERHEAD.bytes + operations * LOG_OVERHEAD.perOperation) return false
  return diskBytes - logBytes <= live * (1 + OVERHEAD.share) + OVERHEAD.bytes
}

/** Pages of the tables of past events and their indexes, in bytes. */
function logBytesOf(data: string): number {
  using db = new DatabaseSync(path.join(data, 'carrel.db'), { readOnly: true })
  const row = db
    .prepare(
      `select coalesce(sum(s.pgsize), 0) as bytes from dbstat s join sqlite_master m on m.name = s.name
       where m.tbl_name in (${LOG_TABLES.map(() => '?').join(', ')})`,
    )
    .get(...LOG_TABLES)
  return Number(row?.['bytes'])
}

async function run(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await carrelProcess(args)
  assert.equal(code, 0, `carrel ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}
