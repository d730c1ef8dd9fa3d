export {
  type BackupState,
  beginRun,
  endRun,
  findLastAttempt,
  readBackupState,
} from './backup-run-store.ts'
export { type BackupSource, createSnapshot } from './create.ts'
export { nameOfGap } from './gaps.ts'
export { TargetLock } from './lock.ts'
export { findManifest, listSnapshotIds, readManifest, type SnapshotManifest } from './manifest.ts'
export { registerBackupMetrics } from './metrics.ts'
export { openRepository } from './open-target.ts'
export { prune } from './prune.ts'
export type { BackupRepository } from './repository.ts'
export {
  abandonInterrupted,
  listSnapshotLibraries,
  restoreAccount,
  restoreLibrary,
} from './restore-library.ts'
export { copyFromSnapshot } from './restore-path.ts'
export { restoreServer } from './restore-server.ts'
export { Snapshot } from './snapshot.ts'
export { SnapshotTree } from './snapshot-tree.ts'
export { BackupError } from './target.ts'
export { verifyBackup } from './verify.ts'
