import { crc32, deflateRawSync } from 'node:zlib'

/** An entry of a zip file, which may be wrong on purpose. */
export interface BuiltEntry {
  readonly name: string | Uint8Array
  readonly content?: Uint8Array | string
  /** Unix mode with the file type, such as 0o120777 for a symbolic link. */
  readonly mode?: number
  /** General purpose flags. 1 is encrypted, 0x800 says that the name is in UTF-8. */
  readonly flags?: number
  /** Compression method. 0 stores, 8 deflates. */
  readonly method?: number
  /** What the directory says instead of the truth. */
  readonly claimedSize?: number
  readonly claimedChecksum?: number
}

/** A zip file made byte by byte, so that hostile ones can be made too. */
export function buildZip(entries: readonly BuiltEntry[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const { method = 8, flags = 0, mode = 0o100644 } = entry
    const name = Buffer.from(entry.name)
    const content = Buffer.from(entry.content ?? '')
    const packed = method === 8 ? deflateRawSync(content) : content
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(flags, 2)
    shared.writeUInt16LE(method, 4)
    // 2020-03-04 at noon.
    shared.writeUInt16LE(12 << 11, 6)
    shared.writeUInt16LE((40 << 9) | (3 << 5) | 4, 8)
    shared.writeUInt32LE(entry.claimedChecksum ?? crc32(content), 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(entry.claimedSize ?? content.length, 18)
    shared.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, name, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE((mode << 16) >>> 0, 6)
    rest.writeUInt32LE(offset, 10)
    // Made by a Unix program.
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), shared, rest, name]))
    locals.push(local)
    offset += local.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, ...directory, end])
}
