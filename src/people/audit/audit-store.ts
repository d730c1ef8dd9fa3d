import type { Reader, Transaction, Value } from '../../platform/database/index.ts'
import type { AuditAction, AuditObject } from './actions.ts'

/** A row of the audit log. */
export interface AuditEntry {
  /** Row number, ascending in the order of insertion. */
  readonly key: number
  /** Unix seconds. */
  readonly at: number
  /** The account id, the name of an app, or the name given at a failed login. */
  readonly actor: string
  /** The remote address; '' for actions that were not requested over the network. */
  readonly address: string
  readonly action: AuditAction
  readonly objectKind: AuditObject
  /** An account id, a library id or a name. */
  readonly objectId: string
  readonly path: string
  /** Further fields. Never contains a secret. */
  readonly detail: Readonly<Record<string, unknown>>
}

/** Selects rows; omitted fields match every row. */
export interface AuditFilter {
  readonly actor?: string | undefined
  readonly action?: AuditAction | undefined
  readonly objectId?: string | undefined
  /** Unix seconds, both inclusive. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

interface AuditRow {
  key: number
  at: number
  actor: string
  address: string
  action: AuditAction
  object_kind: AuditObject
  object_id: string
  path: string
  detail: string
}

const COLUMNS = ['at', 'actor', 'address', 'action', 'object_kind', 'object_id', 'path', 'detail']

export async function appendAuditEntry(tx: Transaction, entry: Omit<AuditEntry, 'key'>): Promise<void> {
  const row = [
    entry.at,
    entry.actor,
    entry.address,
    entry.action,
    entry.objectKind,
    entry.objectId,
    entry.path,
    JSON.stringify(entry.detail),
  ]
  await tx.insert('audit_entry', COLUMNS, [row])
}

/** Newest first, starting before the row `before`. */
export async function listAuditEntries(
  reader: Reader,
  filter: AuditFilter,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<AuditEntry[]> {
  const conditions: string[] = []
  const values: Value[] = []
  const add = (condition: string, value: Value | undefined) => {
    if (value === undefined) return
    conditions.push(condition)
    values.push(value)
  }
  add('actor = ?', filter.actor)
  add('action = ?', filter.action)
  add('object_id = ?', filter.objectId)
  add('at >= ?', filter.from)
  add('at <= ?', filter.to)
  add('key < ?', before)
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const rows = await reader.all<AuditRow>(
    `select key, ${COLUMNS.join(', ')} from audit_entry ${where} order by key desc limit ?`,
    ...values,
    limit,
  )
  return rows.map((row) => ({
    key: row.key,
    at: row.at,
    actor: row.actor,
    address: row.address,
    action: row.action,
    objectKind: row.object_kind,
    objectId: row.object_id,
    path: row.path,
    detail: JSON.parse(row.detail) as Record<string, unknown>,
  }))
}

/** Retention: deletes up to `most` rows older than `time`. Returns the number of deleted rows. */
export function deleteAuditEntriesBefore(tx: Transaction, time: number, most: number): Promise<number> {
  const sql = 'delete from audit_entry where key in (select key from audit_entry where at < ? limit ?)'
  return tx.run(sql, time, most)
}
