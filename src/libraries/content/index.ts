export { archiveBlockRows } from './archive-block-store.ts'
export { BlockCheck, type BlockFault } from './block-check.ts'
export { blockRows, type SizedBlock } from './block-rows-store.ts'
export { condemnedBlocks } from './condemned-store.ts'
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
export { damagedBlocks } from './damaged-block-store.ts'
export { CIPHER_BLOCK_BYTES, DataKey } from './data-key.ts'
export { libraryPasswords } from './encryption.ts'
export { discardAll, keepAll, PendingBlocks, type TakenBlock } from './incoming-block.ts'
export type { LibraryEncryption } from './library-encryption.ts'
export { LibraryKeys } from './library-keys.ts'
export { parsePasswordHashCost } from './password-hash.ts'
export { reencrypt } from './reencrypt.ts'
export { deriveFromCredential, openSealedKey, sealKey } from './sealed-key.ts'
export { type StagedBlock, stagedBlockRows } from './staged-block-store.ts'
export type { StagedChunk } from './staged-chunk.ts'
export { TempFileCipher } from './temp-file-cipher.ts'
