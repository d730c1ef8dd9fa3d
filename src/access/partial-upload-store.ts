import type { Reader, Transaction } from '../database/index.ts'
import { type LibraryPath, pathKey } from '../objects/index.ts'
import type { Guest } from './quota-store.ts'

/**
 * What a resumable upload is known by: whatever upload address its chunks come through, those of one account belong
 * together. Visitors of links have no account: their chunks belong together by the address they were given, so that no
 * visitor reaches those of another, or of the maker of the link.
 */
export interface UploadKey {
  readonly libraryKey: number
  readonly accountKey: number
  /** The link the chunks come through, 0 for none. */
  readonly linkKey: number
  readonly visitor?: string | undefined
  /** Where the file is to be. */
  readonly path: LibraryPath
}

/** A file of which some bytes are stored. */
export interface PartialUpload {
  /** Name of the temporary file. */
  readonly file: string
  /** Bytes of the whole file. */
  readonly total: number
  /** Bytes from the start that are durable; what the file holds beyond them counts for nothing. */
  readonly received: number
}

/** A path never begins with anything but a slash. */
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

/** Begins an upload, in place of any other under the key. */
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

/** False if the upload is not the one it was. */
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
