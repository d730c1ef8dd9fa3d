import type { BlockStore } from '../index.ts'
import type { BlockDirectoryOptions } from './block-directory.ts'
import { openFastBlockStore } from './fast/fast-block-store.ts'
import { openPlainBlockStore } from './plain/plain-block-store.ts'

/** Which disk store to use. Both read and write the same files. */
export type DiskImplementation = 'plain' | 'fast'

interface DiskBlockStoreOptions extends BlockDirectoryOptions {
  /** `fast` unless given. */
  readonly implementation?: DiskImplementation
  /** Threads that hash long blocks, in the fast store; one unless given. */
  readonly threads?: number
}

/** Opens a store in a folder, which it creates if needed. Throws BlockStoreError if it cannot be written. */
export function openDiskBlockStore({
  implementation = 'fast',
  ...options
}: DiskBlockStoreOptions): Promise<BlockStore> {
  return implementation === 'plain' ? openPlainBlockStore(options) : openFastBlockStore(options)
}
