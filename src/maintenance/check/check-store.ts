import { type CommitId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import type { Database, Reader } from '../../platform/database/index.ts'
import type { Finding } from './finding.ts'

/** Counts of a pass. */
export interface PassCounts {
  readonly libraries: number
  readonly objects: number
  readonly blocks: number
  readonly bytes: number
}

/** A pass of `carrel check`. */
interface CheckPass extends PassCounts {
  readonly key: number
  /** Unix seconds. */
  readonly startedAt: number
  /** Null while it runs, or if it was interrupted. */
  readonly finishedAt: number | null
}

interface PassRow {
  key: number
  started_at: number
  finished_at: number | null
  libraries: number
  objects: number
  blocks: number
  bytes: number
}

/** Complete passes kept, with their findings. */
const PASSES_KEPT = 10
const ROWS_PER_TRANSACTION = 500

/** The newest interrupted pass of a scope that began at `since` or later. */
export async function findUnfinishedPass(
  reader: Reader,
  scope: string,
  since: number,
): Promise<CheckPass | undefined> {
  const row = await reader.get<PassRow>(
    `select * from check_pass where scope = ? and finished_at is null and started_at >= ?
     order by key desc limit 1`,
    scope,
    since,
  )
  return row && toPass(row)
}

/** The newest pass of any scope, if it is not complete. */
export async function findOpenPass(reader: Reader): Promise<CheckPass | undefined> {
  const row = await reader.get<PassRow>('select * from check_pass order by key desc limit 1')
  return row?.finished_at === null ? toPass(row) : undefined
}

/** The newest complete pass of any scope, with the number of its findings. */
export async function findLastPass(
  reader: Reader,
): Promise<(CheckPass & { readonly findings: number }) | undefined> {
  const row = await reader.get<PassRow & { findings: number }>(
    `select p.*, (select count(*) from check_finding f where f.pass_key = p.key) as findings from check_pass p
     where finished_at is not null order by finished_at desc, key desc limit 1`,
  )
  return row && { ...toPass(row), findings: row.findings }
}

/** Starts a pass, and deletes the oldest ones. */
export async function insertPass(db: Database, scope: string, now: number): Promise<CheckPass> {
  return db.write(
    async (tx) => {
      await tx.run(
        `delete from check_pass where key not in (select key from check_pass order by key desc limit ?)`,
        PASSES_KEPT - 1,
      )
      const row = await tx.get<PassRow>(
        'insert into check_pass (scope, started_at) values (?, ?) returning *',
        scope,
        now,
      )
      if (row === undefined) throw new Error('a pass was inserted and is not there')
      return toPass(row)
    },
    { durable: false },
  )
}

/** Records a library as checked, with its findings and the counts of the pass so far. */
export async function putCheckedLibrary(
  db: Database,
  pass: number,
  checked: {
    libraryKey: number
    head: CommitId
    oldestSeq: number
    findings: readonly Finding[]
    /** When its check began, in Unix seconds. */
    since: number
  },
  counts: PassCounts,
): Promise<void> {
  const { libraryKey, head, oldestSeq, findings, since } = checked
  await db.write(
    (tx) => tx.run('delete from check_finding where pass_key = ? and library_key = ?', pass, libraryKey),
    { durable: false },
  )
  for (let start = 0; start < findings.length; start += ROWS_PER_TRANSACTION) {
    const rows = findings
      .slice(start, start + ROWS_PER_TRANSACTION)
      .map((finding) => [pass, libraryKey, JSON.stringify(finding)])
    await db.write((tx) => tx.insert('check_finding', ['pass_key', 'library_key', 'finding'], rows), {
      durable: false,
    })
  }
  await db.write(
    async (tx) => {
      await tx.run('delete from checked_library where pass_key = ? and library_key = ?', pass, libraryKey)
      await tx.run('delete from check_progress where pass_key = ? and library_key = ?', pass, libraryKey)
      await tx.insert(
        'checked_library',
        ['pass_key', 'library_key', 'head', 'oldest_seq', 'since'],
        [[pass, libraryKey, idToBytes(head), oldestSeq, since]],
      )
      const { libraries, objects, blocks, bytes } = counts
      const sql = 'update check_pass set libraries = ?, objects = ?, blocks = ?, bytes = ? where key = ?'
      await tx.run(sql, libraries, objects, blocks, bytes, pass)
    },
    { durable: false },
  )
}

/** The state in which a pass has checked a library. */
export async function findCheckedLibrary(
  reader: Reader,
  pass: number,
  libraryKey: number,
): Promise<{ head: CommitId; oldestSeq: number; since: number | null } | undefined> {
  const row = await reader.get<{ head: Uint8Array; oldest_seq: number; since: number | null }>(
    'select head, oldest_seq, since from checked_library where pass_key = ? and library_key = ?',
    pass,
    libraryKey,
  )
  return row && { head: idFromBytes<CommitId>(row.head), oldestSeq: row.oldest_seq, since: row.since }
}

export async function finishPass(db: Database, pass: number, now: number): Promise<void> {
  await db.write((tx) => tx.run('update check_pass set finished_at = ? where key = ?', now, pass), {
    durable: false,
  })
}

/** All findings of a pass, by library. */
export async function listFindings(reader: Reader, pass: number): Promise<Finding[]> {
  const rows = await reader.all<{ finding: string }>(
    'select finding from check_finding where pass_key = ? order by library_key, key',
    pass,
  )
  return rows.map(({ finding }) => JSON.parse(finding) as Finding)
}

function toPass(row: PassRow): CheckPass {
  return {
    key: row.key,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    libraries: row.libraries,
    objects: row.objects,
    blocks: row.blocks,
    bytes: row.bytes,
  }
}
