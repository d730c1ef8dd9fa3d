export { type CopyReport, copyBlocks, emptyStore, isEmpty } from './copy-blocks.ts'
export {
  beginMove,
  type ConfiguredStore,
  claimStore,
  endMove,
  identifyStore,
  StoreIdentityError,
} from './identify.ts'
export { bucketMarker, diskMarker } from './marker.ts'
export { MigratingBlockStore } from './migrating-block-store.ts'
