export { type BoundarySearch, Cutter, LONGEST_BLOCK } from './chunker.ts'
export { type Commit, type CommitLibrary, encodeCommit, newCommitId, parseCommit } from './commit.ts'
export { Dir, parseDir } from './dir.ts'
export { type DirDirent, type Dirent, dirDirent, type FileDirent, fileDirent } from './dirent.ts'
export { encodeFile, type FileObject, fileId, parseFile } from './file.ts'
export {
  type BlockId,
  type CommitId,
  type DirId,
  EMPTY_ID,
  type FileId,
  type FsId,
  idFromBytes,
  idToBytes,
  type LibraryId,
  MAX_IDS,
  newLibraryId,
  parseBlockId,
  parseCommitId,
  parseDirId,
  parseFileId,
  parseFsId,
  parseLibraryId,
  sha1Hex,
} from './ids.ts'
export { InvalidObject } from './invalid.ts'
export { parseJson } from './json-fields.ts'
export {
  compareNames,
  comparesNatively,
  conflictName,
  freeName,
  freeWholeName,
  isStorableName,
  parseName,
  toNfc,
} from './names.ts'
export {
  entriesInDir,
  packChanges,
  packDir,
  packDirInSlices,
  packFile,
  unpackBlocks,
  unpackChanges,
  unpackDir,
  unpackDirInSlices,
  unpackFile,
} from './packed.ts'
export { PACKET_HEAD_BYTES, packetHead, zlibStored } from './packets.ts'
export { pathKey } from './path-key.ts'
export {
  baseName,
  below,
  isWithin,
  joinPath,
  type LibraryPath,
  parentOf,
  parsePath,
  ROOT,
  seenFrom,
  segmentsOf,
  selfAndAbove,
  withSlash,
} from './paths.ts'
export type { Slices } from './slices.ts'
