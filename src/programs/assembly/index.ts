export { createAccounts, createInitialPassword, quotaLimits } from './accounts.ts'
export {
  backUp,
  holdLease,
  pruneBackups,
  recordedBackup,
  recordedVerification,
  verifyBackups,
} from './backups.ts'
export { createActivity, createPhotos, createSearch } from './consumers.ts'
export { apiTokenDependents, groupDependents, libraryRelations } from './dependents.ts'
export { cancelMove, type MoveStep, moveDatabase } from './move-database.ts'
export { refuseMoved } from './move-marks.ts'
export { addressOfBlocks, findS3Store, openBlocks, openMove, probeBlocks } from './open-blocks.ts'
export { releaseSpace } from './release-space.ts'
export { DELETED_LIBRARIES_KEPT_SECONDS, RECEIVED_KEPT_SECONDS } from './retention.ts'
export { adoptSecret, checkSecret } from './secret-check.ts'
export {
  checkDatabaseStorage,
  findFolderProblem,
  findPostgresProblems,
  reportProblems,
  type StorageProblem,
} from './storage-safety.ts'
export { openCore, openSearchDatabase } from './stores.ts'
