export {
  type Adoption,
  BlockDamaged,
  BlockMismatch,
  BlockMissing,
  type BlockSource,
  type BlockStore,
  BlockStoreError,
  BlockStoreUnavailable,
  type BlockWriter,
  type BorrowedBytes,
  type ByteRange,
  MAX_RANGE_BYTES,
  type ReadOptions,
  type ReceivedBlock,
} from './block-store.ts'
export { verifiedRead, verifiedWrite } from './verified-bytes.ts'
