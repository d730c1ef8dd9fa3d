export { recreateFolders } from './block-directory.ts'
export { type DiskImplementation, openDiskBlockStore } from './disk-block-store.ts'
export { Quarantine } from './quarantine.ts'
