export { DataFolderInUseError, joinDataFolder, lockDataFolder } from './data-folder-lock.ts'
export { prepareDataFolder, UNFINISHED_RESTORE } from './prepare-data-folder.ts'
