export { CacheEpochs } from './cache-epochs.ts'
export { type FileChecksums, findChecksums, putChecksums } from './checksum-store.ts'
export {
  condemnObjects,
  deleteCondemnedObjects,
  hasCondemnedObjects,
  listDependents,
  listKeysWithCondemnedObjects,
  listObjectsAfter,
  objectReleases,
  releaseObjects,
  rewriteWhole,
} from './condemned-store.ts'
export { objectRows } from './dependent-rows-store.ts'
export { type Change, diffTrees, TooManyChanges } from './diff.ts'
export type { StoredDir } from './dir-cache.ts'
export { changedEntries } from './dir-changes.ts'
export { countDirs } from './dir-counts.ts'
export {
  findObjectBytes,
  findTotals,
  inspectDir,
  inspectFiles,
  listLibrariesWith,
  type ObjectProblem,
  replaceObject,
  setTotals,
} from './inspection-store.ts'
export { type ShownDir, shownDir } from './listing-order.ts'
export { AS_RECEIVED, DIR, FILE, PACKED } from './object-encodings.ts'
export {
  blocksOf,
  copyWholeRows,
  findWhole,
  firstOfEach,
  insertObjects,
  insertReleased,
  listWholeRows,
  ObjectMissing,
  ObjectStore,
  type PreparedObject,
  prepareDir,
  prepareFile,
  prepareWholeDir,
  readFileRow,
  type Totals,
} from './object-store.ts'
export { keptObjectRelation, objectRelation } from './relations.ts'
export { mergeInto } from './three-way.ts'
export { dirOfFile, Tree } from './tree.ts'
export { TreeChanges } from './tree-changes.ts'
export { entriesOnce, listBlocksOf, readAdded } from './walk-store.ts'
export { type EditedTree, PendingDirs, WorkingTree } from './working-tree.ts'
