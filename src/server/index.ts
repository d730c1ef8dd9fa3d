export { backUp, pruneBackups, recordedBackup, recordedVerification, verifyBackups } from './backups.ts'
export { DataFolderInUseError, lockDataFolder } from './data-folder-lock.ts'
export { holdLease } from './hold-lease.ts'
export { DELETED_LIBRARIES_KEPT_SECONDS, RECEIVED_KEPT_SECONDS } from './maintenance.ts'
export { openBlocks, openMove } from './open-blocks.ts'
export { releaseSpace } from './release-space.ts'
export { adoptSecret } from './secret-check.ts'
export { type RunningServer, startServer } from './server.ts'
export {
  createAccounts,
  createActivity,
  createInitialPassword,
  createPhotos,
  createSearch,
  quotaLimits,
} from './services.ts'
export { findFolderProblem, findPostgresProblems, type StorageProblem } from './storage-safety.ts'
export { openCore, openSearchDatabase, StartError } from './stores.ts'
