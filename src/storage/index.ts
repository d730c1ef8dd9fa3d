export {
  BlockDamaged,
  BlockMismatch,
  BlockMissing,
  type BlockSource,
  type BlockStore,
  BlockStoreError,
  type BlockWriter,
  type ByteRange,
  type LentBytes,
  LONGEST_AT_ONCE,
  type ReadOptions,
  type ReceivedBlock,
} from './block-store.ts'
export { verifiedRead, verifiedWrite } from './verified-bytes.ts'
