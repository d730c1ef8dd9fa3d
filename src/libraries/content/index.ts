export { deleteArchiveBlocks, insertArchiveBlocks, listArchiveBlocks } from './archive-block-store.ts'
export { BlockCheck, type BlockFault } from './block-check.ts'
export {
  findBlocksHeldAnywhere,
  findHeldBlocks,
  findIntactBlocks,
  findSmallBlocks,
  insertHeldBlocks,
  insertSmallBlocks,
  listHeldAfter,
  listHeldOfSize,
  listStoredAfter,
  readSmallBlocks,
  type SizedBlock,
  sampleStoredBlocks,
  storeBlocks,
} from './block-rows-store.ts'
export {
  condemnBlocks,
  condemnReferences,
  deleteCondemnedReferences,
  deleteRemovedBlocks,
  findSmallSizes,
  findUnheld,
  hasCondemnedReferences,
  listCondemnedBlocksAfter,
  listKeysWithCondemnedReferences,
  listReferencesAfter,
  listUnheldSmallAfter,
  releaseHeldBlocks,
  releaseReferences,
  removeCondemnedBlocks,
  summarizeCondemnedReferences,
} from './condemned-store.ts'
export {
  type Content,
  ContentStore,
  emptyContent,
  insertContents,
  SMALLEST_STORED_BLOCK,
  type StoredBytes,
  smallContent,
  stagedContent,
} from './content.ts'
export { copyObjects } from './copy-objects.ts'
export {
  countDamagedBlocks,
  deleteDamagedBlocks,
  deleteUnheldDamaged,
  hasDamagedArchive,
  hasDamagedSince,
  hasDamagedStaged,
  insertDamagedBlock,
  listDamagedBlocks,
} from './damaged-block-store.ts'
export { CIPHER_BLOCK_BYTES, DataKey } from './data-key.ts'
export { blockRows } from './dependent-rows-store.ts'
export {
  checkMagic,
  checkPassword,
  dataKeyFrom,
  encryptionFromPassword,
  passwordCheckOf,
  withNewPassword,
  withPasswordCheck,
} from './encryption.ts'
export { discardAll, keepAll, PendingBlocks, type TakenBlock } from './incoming-block.ts'
export type { LibraryEncryption } from './library-encryption.ts'
export { LibraryKeys } from './library-keys.ts'
export { parsePasswordHashCost } from './password-hash.ts'
export { reencrypt } from './reencrypt.ts'
export { deriveFromCredential, openSealedKey, sealKey } from './sealed-key.ts'
export {
  listStagedAt,
  listStagedBefore,
  replaceStagedBlocks,
  type StagedBlock,
} from './staged-block-store.ts'
export type { StagedChunk } from './staged-chunk.ts'
export { TempFileCipher } from './temp-file-cipher.ts'
