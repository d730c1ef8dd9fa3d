export { DataFolderInUseError } from './data-folder-lock.ts'
export { type RunningServer, startServer } from './server.ts'
export { createAccounts, createInitialPassword, createSearch, quotaLimits } from './services.ts'
export { openBlocks, openCore, openSearchDatabase, StartError } from './stores.ts'
