import type { Dialect } from '../database/index.ts'

/** A node whose last heartbeat is older is dead: its leases are void and others take over its work. */
export const NODE_EXPIRY_SECONDS = 30

/** SQL expression for the time of the database in Unix seconds, at which nodes with different clocks agree. */
export const databaseTime: Readonly<Record<Dialect, string>> = {
  sqlite: 'unixepoch()',
  postgres: 'floor(extract(epoch from clock_timestamp()))::bigint',
}

/** The ids of nodes that are alive, as a subquery with the column `id`. */
export function liveNodeRelation(dialect: Dialect): string {
  return `(select id from cluster_node where heartbeat_at > ${databaseTime[dialect]} - ${NODE_EXPIRY_SECONDS})`
}
