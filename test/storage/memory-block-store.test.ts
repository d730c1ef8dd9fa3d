import { blockStoreContract } from '../support/block-store.contract.ts'
import { MemoryBlockStore } from '../support/memory-block-store.ts'

blockStoreContract('memory', async () => new MemoryBlockStore())
