export { DataFolderInUseError, joinDataFolder, lockDataFolder, serverOf } from './data-folder-lock.ts'
export { prepareDataFolder, UNFINISHED_RESTORE } from './prepare-data-folder.ts'
export {
  freeBytesIn,
  MIN_FREE_BYTES,
  releaseReserveFile,
  releaseReserveIfFull,
  reserveFileIn,
} from './reserve-file.ts'
