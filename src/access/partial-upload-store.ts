import type { Reader, Transaction } from '../database/index.ts'
import { type LibraryPath, pathKey } from '../objects/index.ts'
import type { Guest } from './quota-store.ts'

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
  /** Name of the temporary file. */
  readonly file: string
  /** Size of the whole file in bytes. */
  readonly total: number
  /** Number of leading bytes that are durable. Later bytes in the temporary file are ignored. */
  readonly received: number
}

/** A path always starts with a slash, so a visitor key cannot equal one. */
function lookUpKey({ path, visitor }: UploadKey): Buffer {
  return pathKey(visitor === undefined ? path : (`visitor ${visitor}${path}` as LibraryPath))
}

export async function findPartialUpload(reader: Reader, key: UploadKey): Promise<PartialUpload | undefined> {
  return reader.get<{ file: string; total: number; received: number }>(
    `select file, total, received from partial_upload
     where library_key = ? and account_key = ? and link_key = ? and path_key = ?`,
    key.libraryKey,
    key.accountKey,
    key.linkKey,
    lookUpKey(key),
  )
}

/** Starts an upload and replaces any other with the same key. */
export async function putPartialUpload(
  tx: Transaction,
  key: UploadKey,
  { file, total, received, guest }: PartialUpload & { readonly guest: Guest },
  now: number,
): Promise<void> {
  await deletePartialUpload(tx, key)
  await tx.run(
    `insert into partial_upload
       (library_key, account_key, link_key, path_key, path, file, total, received, guest, updated_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    key.libraryKey,
    key.accountKey,
    key.linkKey,
    lookUpKey(key),
    key.path,
    file,
    total,
    received,
    guest,
    now,
  )
}

/** False if the upload was replaced. */
export async function setReceived(
  tx: Transaction,
  key: UploadKey,
  { file, received }: Pick<PartialUpload, 'file' | 'received'>,
  now: number,
): Promise<boolean> {
  const changed = await tx.run(
    `update partial_upload set received = ?, updated_at = ?
     where library_key = ? and account_key = ? and link_key = ? and path_key = ? and file = ?`,
    received,
    now,
    key.libraryKey,
    key.accountKey,
    key.linkKey,
    lookUpKey(key),
    file,
  )
  return changed > 0
}

export async function deletePartialUpload(tx: Transaction, key: UploadKey): Promise<void> {
  await tx.run(
    'delete from partial_upload where library_key = ? and account_key = ? and link_key = ? and path_key = ?',
    key.libraryKey,
    key.accountKey,
    key.linkKey,
    lookUpKey(key),
  )
}

export async function listPartialFiles(reader: Reader): Promise<Set<string>> {
  const rows = await reader.all<{ file: string }>('select file from partial_upload')
  return new Set(rows.map((row) => row.file))
}
