import { createHash } from 'node:crypto'
import { EMPTY_ID, type FileId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import { inPaddedGroups, type Reader, type Transaction } from '../../platform/database/index.ts'
import { FILE } from './object-encodings.ts'
import { type ObjectRow, readFileRow } from './object-store.ts'

/** Hashes of the content of a file, in hexadecimal. MD5 is known only if a client sent a checksum with the content. */
export interface FileChecksums {
  readonly sha1: string
  readonly md5?: string
}

/** A file of one block takes less in either encoding. Longer ones have several, and none of them is the hash of all. */
const ONE_BLOCK_BYTES = 256
const MD5_BYTES = 16
const EMPTY = {
  sha1: createHash('sha1').digest('hex'),
  md5: createHash('md5').digest('hex'),
}

/** Keeps the checksums of a stored file. Those of an empty file are known. */
async function putChecksums(
  tx: Transaction,
  libraryKey: number,
  id: FileId,
  { sha1, md5 }: Required<FileChecksums>,
): Promise<void> {
  await tx.run(
    'update fs_object set checksums = ? where library_key = ? and id = ? and checksums is null',
    Buffer.from(md5 + sha1, 'hex'),
    libraryKey,
    idToBytes(id),
  )
}

/**
 * The checksums of files that are known without reading any content: those that were kept, and SHA-1 of a file of one block, whose id it is. Only for
 * libraries that are not encrypted, in which blocks are named by their ciphertext.
 */
async function findChecksums(
  reader: Reader,
  libraryKey: number,
  ids: readonly FileId[],
): Promise<Map<FileId, FileChecksums>> {
  const found = new Map<FileId, FileChecksums>([[EMPTY_ID, EMPTY]])
  const stored = ids.filter((id) => id !== EMPTY_ID)
  for (const { some, marks } of inPaddedGroups(stored.map(idToBytes))) {
    const rows = await reader.all<
      Pick<ObjectRow, 'id' | 'encoding'> & { data: Uint8Array | null; checksums: Uint8Array | null }
    >(
      `select id, encoding, checksums, case when checksums is null and octet_length(data) < ${ONE_BLOCK_BYTES} then data end as data
       from fs_object where library_key = ? and kind = ${FILE} and id in (${marks})`,
      libraryKey,
      ...some,
    )
    for (const { id, encoding, data, checksums } of rows) {
      const sums = checksums === null ? data && ofOneBlock({ encoding, data }) : unpacked(checksums)
      if (sums) found.set(idFromBytes(id), sums)
    }
  }
  return found
}

function ofOneBlock(row: Pick<ObjectRow, 'encoding' | 'data'>): FileChecksums | undefined {
  const [sha1, ...others] = readFileRow(row).blockIds
  return sha1 === undefined || others.length > 0 ? undefined : { sha1 }
}

function unpacked(checksums: Uint8Array): FileChecksums {
  const hex = Buffer.from(checksums).toString('hex')
  return { md5: hex.slice(0, 2 * MD5_BYTES), sha1: hex.slice(2 * MD5_BYTES) }
}

/** The rows of checksums, for the module that computes them. */
export const checksumRows = {
  find: findChecksums,
  put: putChecksums,
}
