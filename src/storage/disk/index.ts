export { openDiskBlockStore } from './disk-block-store.ts'
export { Quarantine } from './quarantine.ts'
