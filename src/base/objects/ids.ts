import { hash, randomUUID } from 'node:crypto'

type Id<Of extends string> = string & { readonly __id: { readonly [K in Of]: true } }

/** A library's UUID, lower case. */
export type LibraryId = Id<'library'>
export type CommitId = Id<'commit'>
export type DirId = Id<'dir'>
export type FileId = Id<'file'>
/** The id of an fs object: a dir or a file. */
export type FsId = DirId | FileId
/** SHA-1 of the stored bytes of a block. */
export type BlockId = Id<'block'>

/** Forty zeros: the id of the empty dir and the empty file, which are never stored. */
export const EMPTY_ID = '0'.repeat(40) as DirId & FileId
export const emptyDirId: DirId = EMPTY_ID
export const emptyFileId: FileId = EMPTY_ID

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const objectId = /^[0-9a-f]{40}$/

export function parseLibraryId(text: string): LibraryId | undefined {
  return uuid.test(text) ? (text as LibraryId) : undefined
}

/** Accepts forty lower-case hex digits only. */
export function parseObjectId(text: string): string | undefined {
  return objectId.test(text) ? text : undefined
}

export const parseCommitId = (text: string) => parseObjectId(text) as CommitId | undefined
export const parseDirId = (text: string) => parseObjectId(text) as DirId | undefined
export const parseFileId = (text: string) => parseObjectId(text) as FileId | undefined
export const parseFsId = (text: string) => parseObjectId(text) as FsId | undefined
export const parseBlockId = (text: string) => parseObjectId(text) as BlockId | undefined

export function newLibraryId(): LibraryId {
  return randomUUID() as string as LibraryId
}

/** The 20 bytes of an object id. */
export function idToBytes(id: CommitId | FsId | BlockId): Buffer {
  return Buffer.from(id, 'hex')
}

/** The object id of 20 bytes from our own database. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller knows what its column holds.
export function idFromBytes<T extends CommitId | FsId | BlockId>(bytes: Uint8Array): T {
  if (bytes.length !== 20) throw new RangeError(`An object id has 20 bytes, not ${bytes.length}.`)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex') as T
}

export function sha1Hex(bytes: Uint8Array): string {
  return hash('sha1', bytes, 'hex')
}

/** Maximum ids in the list of one call. A client sends a thousand at a time. */
export const MAX_IDS = 10_000
