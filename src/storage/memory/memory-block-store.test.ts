import { blockStoreContract } from '../block-store.contract.ts'
import { MemoryBlockStore } from './memory-block-store.ts'

blockStoreContract('memory', async () => new MemoryBlockStore())
