export { CacheEpochs } from './cache-epochs.ts'
export { checksumRows, type FileChecksums } from './checksum-store.ts'
export { condemnedObjects } from './condemned-store.ts'
export { type Change, diffTrees, TooManyChanges } from './diff.ts'
export type { StoredDir } from './dir-cache.ts'
export { changedEntries } from './dir-changes.ts'
export { countDirs } from './dir-counts.ts'
export { type ObjectProblem, storedObjects } from './inspection-store.ts'
export { type ShownDir, shownDir } from './listing-order.ts'
export { AS_RECEIVED, DIR, FILE, PACKED } from './object-encodings.ts'
export {
  blocksOf,
  firstOfEach,
  ObjectMissing,
  ObjectStore,
  objectRows,
  type PreparedObject,
  prepareDir,
  prepareFile,
  prepareWholeDir,
  readFileRow,
  type Totals,
} from './object-store.ts'
export { mergeInto } from './three-way.ts'
export { dirOfFile, Tree } from './tree.ts'
export { TreeChanges } from './tree-changes.ts'
export { entriesOnce, listBlocksOf, readAdded } from './walk-store.ts'
export { type EditedTree, PendingDirs, WorkingTree } from './working-tree.ts'
