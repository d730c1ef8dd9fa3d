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
export { InvalidObject, parseJson } from './json-fields.ts'
