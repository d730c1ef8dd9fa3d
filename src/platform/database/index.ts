export type { Database, Deletion, Dialect, Reader, Transaction, Value } from './database.ts'
export { deleteBatch, deleteBatches, inGroups, inPaddedGroups } from './delete-batch.ts'
export {
  DatabaseError,
  leaseEnded,
  MigrationBackupError,
  NewerSchemaError,
  OlderNodesError,
} from './errors.ts'
export { inspectDatabase, judgeSchema, knownSchemaVersion, listUnsafeSettings } from './inspect.ts'
export { bulkLoad } from './load-rows.ts'
export { registerDatabaseMetrics } from './metrics.ts'
export { checkSteps, type WaitingStep } from './migrate.ts'
export { columnTypes, type Migration } from './migrations/types.ts'
export { Mutex } from './mutex.ts'
export { type DatabaseSetting, finishMigration, nameOfDatabase, openDatabase } from './open.ts'
export { writeIfSpace } from './optional-write.ts'
export type { ProcessLocks } from './process-locks.ts'
export { waitLimits } from './request-waits.ts'
export { serveSideProcess } from './side-process-entry.ts'
export { type DatabaseSnapshot, openSnapshot, type SnapshotTable } from './snapshot.ts'
export { compactSqlite } from './sqlite/compact.ts'
export { LARGE_LOG_BYTES } from './sqlite/sqlite-database.ts'
export { ThreadedDatabase } from './sqlite/threaded-database.ts'
