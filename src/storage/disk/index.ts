export { openDiskBlockStore } from './disk-block-store.ts'
