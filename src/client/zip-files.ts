import { crc32, inflateRawSync } from 'node:zlib'

const END = Buffer.from('PK\x05\x06', 'latin1')
const END_BYTES = 22
const DIRECTORY_ENTRY = 0x02014b50
const STORED = 0
const DEFLATED = 8

/**
 * The files of a zip archive in memory, by their names. They are read when asked for. Throws for an archive that is malformed, or larger than those
 * without Zip64: the server may be hostile.
 */
export function zipFiles(zip: Buffer): Map<string, (size: number) => Buffer> {
  const end = zip.lastIndexOf(END)
  if (end === -1 || end + END_BYTES > zip.length) throw new RangeError('not a zip archive')
  const files = new Map<string, (size: number) => Buffer>()
  let at = zip.readUInt32LE(end + 16)
  for (let count = zip.readUInt16LE(end + 10); count > 0; count -= 1) {
    if (zip.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new RangeError('not an entry of a zip archive')
    const record = {
      method: zip.readUInt16LE(at + 10),
      crc: zip.readUInt32LE(at + 16),
      packedSize: zip.readUInt32LE(at + 20),
      offset: zip.readUInt32LE(at + 42),
    }
    const nameLength = zip.readUInt16LE(at + 28)
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    if (!name.endsWith('/')) files.set(name, (size) => contentOf(zip, record, size))
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return files
}

/** Throws if it has not `size` bytes, or another checksum. */
function contentOf(
  zip: Buffer,
  { method, crc, packedSize, offset }: Readonly<Record<'method' | 'crc' | 'packedSize' | 'offset', number>>,
  size: number,
): Buffer {
  const start = offset + 30 + zip.readUInt16LE(offset + 26) + zip.readUInt16LE(offset + 28)
  const packed = zip.subarray(start, start + packedSize)
  if (method !== STORED && method !== DEFLATED) throw new RangeError('an unknown kind of compression')
  const bytes = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) })
  if (bytes.length !== size || crc32(bytes) !== crc)
    throw new RangeError('other bytes than the archive names')
  return bytes
}
