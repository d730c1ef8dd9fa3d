import type { FileId } from '../../base/objects/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { dbOf } from '../library/for-operations.ts'
import type { Library, LibraryCore } from '../library/index.ts'
import { checksumRows, type FileChecksums } from '../tree/index.ts'

export type { FileChecksums } from '../tree/index.ts'

/** The checksums of files that are known without reading their content. None in an encrypted library, where only ciphertext is hashed. */
export async function checksumsOf(
  core: LibraryCore,
  { info }: Library,
  ids: readonly FileId[],
): Promise<ReadonlyMap<FileId, FileChecksums>> {
  return info.encryption === undefined ? checksumRows.find(dbOf(core), info.key, ids) : new Map()
}

/** Keeps verified checksums, in the transaction that stores the file. Not in an encrypted library: they would tell what is in it. */
export async function keepChecksums(
  tx: Transaction,
  { info }: Library,
  id: FileId,
  checksums: Required<FileChecksums>,
): Promise<void> {
  if (info.encryption === undefined) await checksumRows.put(tx, info.key, id, checksums)
}
