import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'

/**
 * The files of a zip archive in memory, by their names. They are read when asked for. Rejects an archive that is malformed: the server may be
 * hostile.
 */
export async function zipFiles(bytes: Buffer): Promise<Map<string, (size?: number) => Promise<Buffer>>> {
  const zip = await fromBufferPromise(bytes)
  const files = new Map<string, (size?: number) => Promise<Buffer>>()
  for await (const entry of zip.eachEntry()) {
    if (!entry.fileName.endsWith('/'))
      files.set(entry.fileName, (size = entry.uncompressedSize) => contentOf(zip, entry, size))
  }
  return files
}

/** Rejects if it has not `size` bytes, or another checksum. No more is inflated than the entry names. */
async function contentOf(zip: ZipFile, entry: Entry, size: number): Promise<Buffer> {
  if (entry.uncompressedSize !== size) throw new RangeError('another size than the file has')
  const bytes = await buffer(await zip.openReadStreamPromise(entry))
  if (bytes.length !== size || crc32(bytes) !== entry.crc32)
    throw new RangeError('other bytes than the archive names')
  return bytes
}
