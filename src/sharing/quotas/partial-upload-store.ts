import { type LibraryPath, pathKey } from '../../base/paths/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { type Guest, summarizeUnfinished } from './quota-store.ts'

/**
 * Identifies a resumable upload. Chunks of one account belong together whichever upload URL they use.
 * Visitors of links have no account, so their chunks are identified by the upload URL they were given. No
 * visitor can reach the chunks of another, or of the link's creator.
 */
export interface UploadKey {
  readonly libraryKey: number
  readonly accountKey: number
  /** The link the chunks arrive through; 0 for none. */
  readonly linkKey: number
  readonly visitor?: string | undefined
  /** The target path of the file. */
  readonly path: LibraryPath
}

/** A partially uploaded file. */
export interface PartialUpload {
  readonly key: number
  /** Changes with every chunk. */
  readonly version: number
  /** Size of the whole file in bytes. */
  readonly total: number
  /** Number of leading bytes that are durable. */
  readonly received: number
}

/** A path always starts with a slash, so a visitor key cannot equal one. */
function lookUpKey({ path, visitor }: UploadKey): Buffer {
  return pathKey(visitor === undefined ? path : (`visitor ${visitor}${path}` as LibraryPath))
}

async function findPartialUpload(reader: Reader, key: UploadKey): Promise<PartialUpload | undefined> {
  return reader.get<{ key: number; version: number; total: number; received: number }>(
    `select key, version, total, received from partial_upload
     where library_key = ? and account_key = ? and link_key = ? and path_key = ?`,
    key.libraryKey,
    key.accountKey,
    key.linkKey,
    lookUpKey(key),
  )
}

/** The unfinished uploads into a library. */
async function listPartialUploads(
  reader: Reader,
  libraryKey: number,
): Promise<{ key: number; path: string; received: number }[]> {
  return reader.all<{ key: number; path: string; received: number }>(
    'select key, path, received from partial_upload where library_key = ? order by key',
    libraryKey,
  )
}

/** Deletes an upload with the list of its blocks, whatever its state. */
async function dropPartialUpload(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from partial_upload where key = ?', key)
}

/** Starts an upload and replaces any other with the same key. Returns the key of its row; undefined if another request started one at this moment. */
async function putPartialUpload(
  tx: Transaction,
  key: UploadKey,
  { total, received, guest }: Pick<PartialUpload, 'total' | 'received'> & { readonly guest: Guest },
  now: number,
): Promise<number | undefined> {
  await deletePartialUploadAt(tx, key)
  const row = await tx.get<{ key: number }>(
    `insert into partial_upload
       (library_key, account_key, link_key, path_key, path, total, received, guest, updated_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (library_key, account_key, link_key, path_key) do nothing returning key`,
    key.libraryKey,
    key.accountKey,
    key.linkKey,
    lookUpKey(key),
    key.path,
    total,
    received,
    guest,
    now,
  )
  return row?.key
}

/** False if another request changed the upload since it was read (compare-and-swap). */
async function setReceived(
  tx: Transaction,
  { key, version }: PartialUpload,
  received: number,
  now: number,
): Promise<boolean> {
  const changed = await tx.run(
    `update partial_upload set received = ?, version = version + 1, updated_at = ?
     where key = ? and version = ?`,
    received,
    now,
    key,
    version,
  )
  return changed > 0
}

/** Deletes an upload with the list of its blocks. False if another request changed it since it was read. */
async function deletePartialUpload(
  tx: Transaction,
  { key, version }: Pick<PartialUpload, 'key' | 'version'>,
): Promise<boolean> {
  return (await tx.run('delete from partial_upload where key = ? and version = ?', key, version)) > 0
}

/** Deletes the upload with this key, if there is one. */
async function deletePartialUploadAt(tx: Transaction, key: UploadKey): Promise<void> {
  await tx.run(
    'delete from partial_upload where library_key = ? and account_key = ? and link_key = ? and path_key = ?',
    key.libraryKey,
    key.accountKey,
    key.linkKey,
    lookUpKey(key),
  )
}

/** Unfinished uploads. */
export const partialUploads = {
  delete: deletePartialUpload,
  deleteAt: deletePartialUploadAt,
  drop: dropPartialUpload,
  find: findPartialUpload,
  list: listPartialUploads,
  put: putPartialUpload,
  setReceived,
  summarize: summarizeUnfinished,
}
