// The records of a zip file, little-endian, as PKWARE's APPNOTE 6.3 describes them (section numbers below).

/** A file or folder in an archive. */
export interface ZipEntry {
  /** Relative, with `/` between names; a folder's ends in `/`. */
  readonly name: string
  /** Unix seconds. */
  readonly mtime: number
  /** Unix mode, type bits included. */
  readonly mode: number
}

/** How the bytes of an entry rest. */
export type ZipMethod = 'stored' | 'deflated'

/** Data of an entry that is known after its bytes. */
export interface ZipContent {
  readonly method: ZipMethod
  readonly crc: number
  /** Bytes of the file. */
  readonly size: number
  /** Bytes in the archive. */
  readonly packedSize: number
}

/** Values of 32-bit and 16-bit fields whose value is in a Zip64 record. */
const IN_ZIP64_32 = 0xffff_ffff
const IN_ZIP64_16 = 0xffff

// Whether sizes go into a Zip64 field is decided before the packed size is known. Deflate adds less
// than a thousandth to bytes it cannot shrink; this leaves sixteen times as much room.
const LARGEST_PLAIN_SIZE = 0xfc00_0000

const UTF8_NAME = 1 << 11
const VERSION_PLAIN = 20
const VERSION_ZIP64 = 45
/** 3 in the upper byte: made on Unix, so the upper half of the attributes is a mode. */
const MADE_BY = (3 << 8) | VERSION_ZIP64
const METHODS = { stored: 0, deflated: 8 } as const
const DOS_FOLDER = 0x10
const MAX_NAME_BYTES = 0xffff

/** The name is too long for a zip archive. */
export class ZipNameTooLong extends Error {
  override name = 'ZipNameTooLong'
  constructor() {
    super(`A path in an archive has at most ${MAX_NAME_BYTES} bytes.`)
  }
}

/** 4.3.7: the header before the bytes of an entry. Its length does not depend on crc and packed size. */
export function localHeader(entry: ZipEntry, content: ZipContent): Buffer {
  const name = nameBytes(entry)
  const large = content.size > LARGEST_PLAIN_SIZE
  const extra = Buffer.concat([
    ...(large ? [zip64Field([content.size, content.packedSize])] : []),
    timeField(entry),
  ])
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  writeCommon(header, 4, entry, content, large)
  header.writeUInt16LE(name.length, 26)
  header.writeUInt16LE(extra.length, 28)
  return Buffer.concat([header, name, extra])
}

/** 4.3.12: the entry in the directory at the end of the archive. */
export function directoryRecord(entry: ZipEntry, content: ZipContent, offset: number): Buffer {
  const name = nameBytes(entry)
  const large = content.size > LARGEST_PLAIN_SIZE
  const far = offset >= IN_ZIP64_32
  // 4.5.3: only the fields whose short form says so, in this order.
  const wide = [...(large ? [content.size, content.packedSize] : []), ...(far ? [offset] : [])]
  const extra = Buffer.concat([...(wide.length > 0 ? [zip64Field(wide)] : []), timeField(entry)])
  const record = Buffer.alloc(46)
  record.writeUInt32LE(0x02014b50, 0)
  record.writeUInt16LE(MADE_BY, 4)
  writeCommon(record, 6, entry, content, large, far)
  record.writeUInt16LE(name.length, 28)
  record.writeUInt16LE(extra.length, 30)
  record.writeUInt32LE(
    ((entry.mode & 0xffff) * 0x10000 + (entry.name.endsWith('/') ? DOS_FOLDER : 0)) >>> 0,
    38,
  )
  record.writeUInt32LE(far ? IN_ZIP64_32 : offset, 42)
  return Buffer.concat([record, name, extra])
}

/** 4.3.14 to 4.3.16: the end records of an archive whose directory of `entries` starts at `offset` and has `size` bytes. */
export function endRecords(entries: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(entries, IN_ZIP64_16), 8)
  end.writeUInt16LE(Math.min(entries, IN_ZIP64_16), 10)
  end.writeUInt32LE(Math.min(size, IN_ZIP64_32), 12)
  end.writeUInt32LE(Math.min(offset, IN_ZIP64_32), 16)
  if (entries < IN_ZIP64_16 && size < IN_ZIP64_32 && offset < IN_ZIP64_32) return end
  const wide = Buffer.alloc(56)
  wide.writeUInt32LE(0x06064b50, 0)
  wide.writeBigUInt64LE(44n, 4) // What follows this field.
  wide.writeUInt16LE(MADE_BY, 12)
  wide.writeUInt16LE(VERSION_ZIP64, 14)
  for (const [index, value] of [entries, entries, size, offset].entries())
    wide.writeBigUInt64LE(BigInt(value), 24 + 8 * index)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(offset + size), 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([wide, locator, end])
}

/** The fields local header and directory record share, from "version needed" to the sizes. */
function writeCommon(
  into: Buffer,
  at: number,
  entry: ZipEntry,
  content: ZipContent,
  large: boolean,
  far = false,
): void {
  const { date, time } = dosTime(entry.mtime)
  into.writeUInt16LE(large || far ? VERSION_ZIP64 : VERSION_PLAIN, at)
  into.writeUInt16LE(UTF8_NAME, at + 2)
  into.writeUInt16LE(METHODS[content.method], at + 4)
  into.writeUInt16LE(time, at + 6)
  into.writeUInt16LE(date, at + 8)
  into.writeUInt32LE(content.crc, at + 10)
  into.writeUInt32LE(large ? IN_ZIP64_32 : content.packedSize, at + 14)
  into.writeUInt32LE(large ? IN_ZIP64_32 : content.size, at + 18)
}

function zip64Field(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length)
  field.writeUInt16LE(0x0001, 0)
  field.writeUInt16LE(8 * values.length, 2)
  for (const [index, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * index)
  return field
}

/** Info-ZIP's extended timestamp: to the second and free of time zones, unlike the fixed fields. */
function timeField({ mtime }: ZipEntry): Buffer {
  // Readers disagree about the sign of what does not fit; the fixed fields then have to do.
  if (!(mtime >= 0 && mtime <= 0x7fff_ffff)) return Buffer.alloc(0)
  const field = Buffer.alloc(9)
  field.writeUInt16LE(0x5455, 0)
  field.writeUInt16LE(5, 2)
  field.writeUInt8(1, 4) // Only the time of modification follows.
  field.writeInt32LE(Math.trunc(mtime), 5)
  return field
}

const FIRST_DOS_SECOND = Date.UTC(1980, 0, 1) / 1000
const LAST_DOS_SECOND = Date.UTC(2107, 11, 31, 23, 59, 58) / 1000

/** 4.4.6, in UTC: two-second steps from 1980 to 2107. */
function dosTime(mtime: number): { date: number; time: number } {
  const within = Math.min(Math.max(mtime, FIRST_DOS_SECOND), LAST_DOS_SECOND)
  const at = new Date((Number.isNaN(within) ? FIRST_DOS_SECOND : within) * 1000)
  return {
    date: ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
    time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
  }
}

function nameBytes({ name }: ZipEntry): Buffer {
  const bytes = Buffer.from(name, 'utf8')
  if (bytes.length > MAX_NAME_BYTES) throw new ZipNameTooLong()
  return bytes
}
