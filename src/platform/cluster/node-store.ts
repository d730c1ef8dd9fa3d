import type { Dialect, Reader, Transaction } from '../database/index.ts'
import { databaseTime, liveNodeRelation, NODE_EXPIRY_SECONDS } from './relations.ts'

/** A node as it described itself. Times are Unix seconds of the database clock. */
export interface NodeRow {
  readonly id: string
  readonly version: string
  readonly address: string
  /** Address of the block store it writes to. Null for a node of an earlier version. */
  readonly blocks: string | null
  readonly startedAt: number
  readonly heartbeatAt: number
}

type NewNode = Pick<NodeRow, 'id' | 'version' | 'address' | 'blocks'> & {
  /** The newest step of the schema that its program knows. */
  readonly schemaVersion: number
}

/** Inserts the row of a node, or renews its heartbeat. Resolves to the time of the database in Unix seconds, with fractions. */
export async function putHeartbeat(
  tx: Transaction,
  dialect: Dialect,
  { id, version, address, blocks, schemaVersion }: NewNode,
): Promise<number> {
  const time = databaseTime[dialect]
  const row = await tx.get<{ time: number | string }>(
    `insert into cluster_node (id, version, address, blocks, schema_version, started_at, heartbeat_at)
     values (?, ?, ?, ?, ?, ${time}, ${time})
     on conflict (id) do update set address = excluded.address, heartbeat_at = excluded.heartbeat_at
     returning ${EXACT_TIME[dialect]} as time`,
    id,
    version,
    address,
    blocks,
    schemaVersion,
  )
  return Number(row?.time ?? 0)
}

const EXACT_TIME: Readonly<Record<Dialect, string>> = {
  sqlite: `unixepoch('subsec')`,
  postgres: 'extract(epoch from clock_timestamp())::text',
}

/** Publishes the calls of clients that a node has counted in the last minute. */
export async function putCalls(
  tx: Transaction,
  dialect: Dialect,
  { id, calls }: { readonly id: string; readonly calls: CallCounts },
): Promise<void> {
  await tx.run(
    `update cluster_node set calls = ?, calls_at = ${databaseTime[dialect]} where id = ?`,
    JSON.stringify(calls),
    id,
  )
}

/** Calls of the last minute, by a key of their client. */
export type CallCounts = Readonly<Record<string, number>>

/** How long published calls count, the less the older they are. */
const CALLS_SECONDS = 60

/** The calls that all other nodes have counted in the last minute. */
export async function sumCallsOfOthers(tx: Transaction, dialect: Dialect, id: string): Promise<CallCounts> {
  const now = databaseTime[dialect]
  const rows = await tx.all<{ calls: string; age: number | string }>(
    `select calls, ${now} - calls_at as age from cluster_node
     where id <> ? and calls is not null and calls_at > ${now} - ${CALLS_SECONDS}`,
    id,
  )
  const sums: Record<string, number> = {}
  for (const { calls, age } of rows) {
    const part = 1 - Math.max(0, Number(age)) / CALLS_SECONDS
    for (const [client, count] of Object.entries(JSON.parse(calls) as CallCounts)) {
      sums[client] = (sums[client] ?? 0) + count * part
    }
  }
  return sums
}

/** A node stops: its leases are void at once, and the next beat of another node takes over its work. */
export async function endHeartbeat(tx: Transaction, id: string): Promise<void> {
  await tx.run('update cluster_node set heartbeat_at = 0 where id = ?', id)
  await tx.run('delete from cluster_lease where node_id = ?', id)
}

/** Deletes nodes that are dead, with their leases, and the node `known` to be dead. Resolves to their number. */
export function deleteDeadNodes(tx: Transaction, dialect: Dialect, known = ''): Promise<number> {
  return tx.run(
    `delete from cluster_node where id = ? or heartbeat_at <= ${databaseTime[dialect]} - ${NODE_EXPIRY_SECONDS}`,
    known,
  )
}

/** Deletes all nodes but one, with their leases. For a database that only one server can have open. */
export function deleteOtherNodes(tx: Transaction, id: string): Promise<number> {
  return tx.run('delete from cluster_node where id <> ?', id)
}

/** Takes or keeps a lease. False if a node that is alive has it. */
export async function putLease(
  tx: Transaction,
  dialect: Dialect,
  lease: { readonly name: string; readonly nodeId: string },
): Promise<boolean> {
  const changed = await tx.run(
    `insert into cluster_lease (name, node_id, since) values (?, ?, ${databaseTime[dialect]})
     on conflict (name) do update
       set node_id = excluded.node_id,
         since = case when cluster_lease.node_id = excluded.node_id then cluster_lease.since else excluded.since end
       where cluster_lease.node_id = excluded.node_id
         or cluster_lease.node_id not in ${liveNodeRelation(dialect)}`,
    lease.name,
    lease.nodeId,
  )
  return changed === 1
}

/** All nodes, the one that runs longest first. */
export async function listNodes(reader: Reader): Promise<NodeRow[]> {
  const rows = await reader.all<ReadNodeRow>(`select ${COLUMNS} from cluster_node order by started_at, id`)
  return rows.map(toNode)
}

/** The nodes that are alive, as commands beside them see it. */
export async function listLiveNodes(reader: Reader, dialect: Dialect): Promise<NodeRow[]> {
  const rows = await reader.all<ReadNodeRow>(
    `select ${COLUMNS} from cluster_node where id in ${liveNodeRelation(dialect)} order by started_at, id`,
  )
  return rows.map(toNode)
}

/** The schema versions that brought the table of nodes, and the schema version of each node. */
const FIRST_WITH_NODES = 34
const FIRST_WITH_SCHEMA = 45

/**
 * Names the live nodes that could not work after a step of the schema, because their program does not know it. `reached` is the version of the
 * database, `dead` a node that is known to be dead.
 */
export async function listOlderNodes(
  reader: Reader,
  dialect: Dialect,
  { version, reached, dead = '' }: { version: number; reached: number; dead?: string | undefined },
): Promise<string[]> {
  if (reached < FIRST_WITH_NODES) return dialect === 'postgres' ? listOldSessions(reader) : []
  // On SQLite all nodes: connections keep the columns of prepared statements, so no column may be removed while the file is open.
  const isAny = reached < FIRST_WITH_SCHEMA || dialect === 'sqlite'
  const older = isAny ? '' : 'and coalesce(schema_version, 0) < ?'
  const rows = await reader.all<{ address: string; version: string }>(
    `select address, version from cluster_node
     where id in ${liveNodeRelation(dialect)} and id <> ? ${older} order by started_at, id`,
    dead,
    ...(older === '' ? [] : [version]),
  )
  return rows.map((row) => `${row.address} (version ${row.version})`)
}

/** Sessions of programs from before nodes had rows. They have the name that no program has had since. */
async function listOldSessions(reader: Reader): Promise<string[]> {
  const rows = await reader.all<{ address: string | null }>(
    `select distinct host(client_addr) as address from pg_stat_activity
     where datname = current_database() and application_name = 'carrel'`,
  )
  return rows.map(({ address }) => `an older Carrel at ${address ?? 'this host'}`)
}

const COLUMNS = 'id, version, address, blocks, started_at, heartbeat_at'

interface ReadNodeRow {
  id: string
  version: string
  address: string
  blocks: string | null
  started_at: number
  heartbeat_at: number
}

function toNode({ started_at: startedAt, heartbeat_at: heartbeatAt, ...row }: ReadNodeRow): NodeRow {
  return { ...row, startedAt, heartbeatAt }
}

/** All leases by name, with the nodes that have them. */
export async function listLeases(
  reader: Reader,
): Promise<{ readonly name: string; readonly nodeId: string; readonly since: number }[]> {
  const rows = await reader.all<{ name: string; node_id: string; since: number }>(
    'select name, node_id, since from cluster_lease order by name',
  )
  return rows.map((row) => ({ name: row.name, nodeId: row.node_id, since: row.since }))
}

/** What the nodes agreed on under a name; the given value if they have not agreed on anything yet. */
export async function agreeOn(tx: Transaction, name: string, value: string): Promise<string> {
  await tx.insert('cluster_value', ['name', 'value'], [[name, value]], { ignoreExisting: true })
  const row = await tx.get<{ value: string }>('select value from cluster_value where name = ?', name)
  return row?.value ?? value
}

/** What the nodes agreed on under a name, if they did. */
export async function findAgreed(reader: Reader, name: string): Promise<string | undefined> {
  const row = await reader.get<{ value: string }>('select value from cluster_value where name = ?', name)
  return row?.value
}

/** Sets what the nodes agree on, whatever it was. */
export async function replaceAgreed(tx: Transaction, name: string, value: string): Promise<void> {
  await tx.run(
    'insert into cluster_value (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
    name,
    value,
  )
}

export async function deleteAgreed(tx: Transaction, name: string): Promise<void> {
  await tx.run('delete from cluster_value where name = ?', name)
}
