import { type DirId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { LibraryDependent } from '../../libraries/registry/index.ts'
import type { AccountDependent } from '../../people/accounts/index.ts'
import { liveNodeRelation } from '../../platform/cluster/index.ts'
import type { Dialect, Reader, Transaction } from '../../platform/database/index.ts'
import type { ClaimedTask, Extraction, TaskOrder, TaskProgress, TaskState } from './copy-move-task.ts'

const COLUMNS = [
  'id',
  'account_key',
  'epoch',
  'api_token_key',
  'operation',
  'source_key',
  'source_sub_key',
  'parent',
  'names',
  'target_key',
  'target_sub_key',
  'folder',
  'extraction',
  'state',
  'created_at',
  'updated_at',
  'node_id',
]

/** Stores a task. With `nodeId`, no other node takes it while that node is alive. */
export async function insertTask(
  tx: Transaction,
  id: string,
  order: TaskOrder,
  { now, nodeId }: { readonly now: number; readonly nodeId: string | undefined },
): Promise<void> {
  const { origin, operation, source, parent, names, target, folder, extraction } = order
  const row = [
    id,
    origin.accountKey,
    origin.epoch ?? 0,
    origin.apiTokenKey ?? null,
    operation,
    source.libraryKey,
    source.subKey ?? null,
    parent,
    JSON.stringify(names),
    target.libraryKey,
    target.subKey ?? null,
    folder,
    extraction === undefined ? null : JSON.stringify(extraction),
    'queued',
    now,
    now,
    nodeId ?? null,
  ]
  await tx.insert('copy_move_task', COLUMNS, [row])
}

/** Claims a task for a node and resets its progress. Undefined if it has ended, or if another node that is alive has it. */
export async function claimTask(
  tx: Transaction,
  dialect: Dialect,
  id: string,
  { claim, nodeId, now }: { readonly claim: string; readonly nodeId: string; readonly now: number },
): Promise<ClaimedTask | undefined> {
  const claimed = await tx.run(
    `update copy_move_task set claim = ?, node_id = ?, updated_at = ?,
       done = case when state = 'removing' then done else 0 end,
       state = case when state = 'removing' then state else 'running' end
     where id = ? and finished_at is null
       and (node_id is null or node_id = ? or node_id not in ${liveNodeRelation(dialect)})`,
    claim,
    nodeId,
    now,
    id,
    nodeId,
  )
  const row =
    claimed === 0
      ? undefined
      : await tx.get<{
          account_key: number
          epoch: number
          api_token_key: number | null
          operation: TaskOrder['operation']
          source_key: number
          source_sub_key: number | null
          source_root: Uint8Array | null
          parent: string
          names: string
          target_key: number
          target_sub_key: number | null
          folder: string
          extraction: string | null
          state: ClaimedTask['state']
          total: number
        }>(
          `select account_key, epoch, api_token_key, operation, source_key, source_sub_key, source_root, parent, names, target_key,
             target_sub_key, folder, extraction, state, total
           from copy_move_task where id = ?`,
          id,
        )
  if (row === undefined) return undefined
  return {
    id,
    claim,
    origin: {
      accountKey: row.account_key,
      epoch: row.epoch,
      apiTokenKey: row.api_token_key ?? undefined,
      scopedTokenKey: undefined,
    },
    operation: row.operation,
    source: { libraryKey: row.source_key, subKey: row.source_sub_key ?? undefined },
    sourceRoot: row.source_root === null ? undefined : idFromBytes<DirId>(row.source_root),
    parent: row.parent as LibraryPath,
    names: JSON.parse(row.names) as string[],
    target: { libraryKey: row.target_key, subKey: row.target_sub_key ?? undefined },
    folder: row.folder as LibraryPath,
    extraction: row.extraction === null ? undefined : (JSON.parse(row.extraction) as Extraction),
    state: row.state,
    total: row.total,
  }
}

type Claim = Pick<ClaimedTask, 'id' | 'claim'>

/** False if the task was canceled, or claimed by another process. The same holds for the functions below. */
export async function beginTask(
  tx: Transaction,
  { id, claim }: Claim,
  begun: { total: number; sourceRoot: DirId },
  now: number,
): Promise<boolean> {
  const changed = await tx.run(
    `update copy_move_task set total = ?, source_root = ?, updated_at = ?
     where id = ? and claim = ? and state = 'running'`,
    begun.total,
    idToBytes(begun.sourceRoot),
    now,
    id,
    claim,
  )
  return changed === 1
}

export async function advanceTask(
  tx: Transaction,
  { id, claim }: Claim,
  done: number,
  now: number,
): Promise<boolean> {
  const changed = await tx.run(
    `update copy_move_task set done = ?, updated_at = ? where id = ? and claim = ? and state = 'running'`,
    done,
    now,
    id,
    claim,
  )
  return changed === 1
}

/** All entries are copied: a copy ends as successful, a move continues with `removing`. */
export async function setCopied(
  tx: Transaction,
  { id, claim }: Claim,
  next: 'successful' | 'removing',
  now: number,
): Promise<boolean> {
  const changed = await tx.run(
    `update copy_move_task set state = ?, done = total, updated_at = ?, finished_at = ?
     where id = ? and claim = ? and state = 'running'`,
    next,
    now,
    next === 'successful' ? now : null,
    id,
    claim,
  )
  return changed === 1
}

export async function setRemoved(tx: Transaction, { id, claim }: Claim, now: number): Promise<boolean> {
  const changed = await tx.run(
    `update copy_move_task set state = 'successful', updated_at = ?, finished_at = ?
     where id = ? and claim = ? and state = 'removing'`,
    now,
    now,
    id,
    claim,
  )
  return changed === 1
}

export async function setFailed(
  tx: Transaction,
  { id, claim }: Claim,
  reason: string,
  now: number,
): Promise<boolean> {
  const changed = await tx.run(
    `update copy_move_task set state = 'failed', failed_reason = ?, updated_at = ?, finished_at = ?
     where id = ? and claim = ? and finished_at is null`,
    reason,
    now,
    now,
    id,
    claim,
  )
  return changed === 1
}

/** False if there is no such task of the account, or it can no longer be canceled. */
export async function cancelTask(
  tx: Transaction,
  id: string,
  accountKey: number,
  now: number,
): Promise<boolean> {
  const changed = await tx.run(
    `update copy_move_task set state = 'canceled', updated_at = ?, finished_at = ?
     where id = ? and account_key = ? and state in ('queued', 'running')`,
    now,
    now,
    id,
    accountKey,
  )
  return changed === 1
}

/** A task of the account that is unfinished, or that ended after `endedSince`. */
export async function findProgress(
  reader: Reader,
  id: string,
  accountKey: number,
  endedSince: number,
): Promise<TaskProgress | undefined> {
  const row = await reader.get<{ state: TaskState; done: number; total: number; failed_reason: string }>(
    `select state, done, total, failed_reason from copy_move_task
     where id = ? and account_key = ? and (finished_at is null or finished_at > ?)`,
    id,
    accountKey,
    endedSince,
  )
  return row && { state: row.state, done: row.done, total: row.total, failedReason: row.failed_reason }
}

/** What a task does; undefined if it does not exist. */
export async function findOperation(reader: Reader, id: string): Promise<TaskOrder['operation'] | undefined> {
  const sql = 'select operation from copy_move_task where id = ?'
  return (await reader.get<{ operation: TaskOrder['operation'] }>(sql, id))?.operation
}

/**
 * Unfinished tasks that no other live node works on, the oldest of each account first. Those of the node itself are among them: one that it
 * does not run is orphaned.
 */
export async function listFree(
  tx: Transaction,
  dialect: Dialect,
  nodeId: string,
  limit: number,
): Promise<{ id: string; accountKey: number }[]> {
  const rows = await tx.all<{ id: string; account_key: number }>(
    `select id, account_key from copy_move_task where finished_at is null
       and (node_id is null or node_id = ? or node_id not in ${liveNodeRelation(dialect)})
     order by row_number() over (partition by account_key order by key), key limit ?`,
    nodeId,
    limit,
  )
  return rows.map((row) => ({ id: row.id, accountKey: row.account_key }))
}

/** The number of queued and of running tasks. */
export async function countUnfinished(reader: Reader): Promise<{ queued: number; running: number }> {
  const row = await reader.get<{ queued: number | string; unfinished: number | string }>(
    `select coalesce(sum(case when state = 'queued' then 1 else 0 end), 0) as queued, count(*) as unfinished
     from copy_move_task where finished_at is null`,
  )
  const queued = Number(row?.queued ?? 0)
  return { queued, running: Number(row?.unfinished ?? 0) - queued }
}

/** The number of unfinished tasks of an account. */
export async function countUnfinishedOf(reader: Reader, accountKey: number): Promise<number> {
  const sql = 'select count(*) as n from copy_move_task where account_key = ? and finished_at is null'
  return Number((await reader.get<{ n: number | string }>(sql, accountKey))?.n ?? 0)
}

export async function deleteTasksBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from copy_move_task where finished_at is not null and finished_at <= ?', time)
}

/** The trees of a library that unfinished tasks copy from. */
export async function listTaskRoots(reader: Reader, libraryKey: number): Promise<DirId[]> {
  const rows = await reader.all<{ source_root: Uint8Array }>(
    'select distinct source_root from copy_move_task where source_key = ? and source_root is not null',
    libraryKey,
  )
  return rows.map((row) => idFromBytes<DirId>(row.source_root))
}

/** Copy and move tasks of libraries that are purged and of removed accounts. A task without a row stops. */
export const jobRows: LibraryDependent & AccountDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from copy_move_task where source_key = ? or target_key = ?', libraryKey, libraryKey)
  },
  async onAccountRemoved(tx, { key }) {
    await tx.run('delete from copy_move_task where account_key = ?', key)
    await tx.run('delete from abandoned_bytes where account_key = ?', key)
  },
}

// Bytes that failed and canceled tasks have stored, by account. No quota counts them, and they stay on the disk until garbage
// collection frees them. In the database, because any node may work on a task.

/** Garbage collection has freed what a task left behind by then, with the default grace period. */
const KEPT_SECONDS = 2 * 86_400

/** `now` in Unix seconds. */
export async function insertAbandoned(
  tx: Transaction,
  accountKey: number,
  bytes: number,
  now: number,
): Promise<void> {
  await tx.insert('abandoned_bytes', ['account_key', 'at', 'bytes'], [[accountKey, now, bytes]])
}

export async function abandonedBytesOf(reader: Reader, accountKey: number, now: number): Promise<number> {
  const row = await reader.get<{ bytes: number | null }>(
    'select cast(sum(bytes) as bigint) as bytes from abandoned_bytes where account_key = ? and at > ?',
    accountKey,
    now - KEPT_SECONDS,
  )
  return row?.bytes ?? 0
}

/** Deletes rows that count no more. */
export async function deleteOldAbandoned(tx: Transaction, now: number): Promise<number> {
  return tx.run('delete from abandoned_bytes where at <= ?', now - KEPT_SECONDS)
}
