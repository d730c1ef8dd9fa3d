import assert from 'node:assert/strict'
import { inflateRawSync } from 'node:zlib'

/** An independent reader of zip files, which starts from the central directory. */
export interface ReadEntry {
  readonly name: string
  readonly flags: number
  /** 0 stored, 8 deflated. */
  readonly method: number
  readonly crc: number
  readonly size: number
  readonly packedSize: number
  readonly offset: number
  readonly mode: number
  readonly isDosFolder: boolean
  /** Of the extended timestamp; undefined without one. */
  readonly mtime: number | undefined
  /** Of the fixed fields, taken for UTC. */
  readonly dosTime: string
  readonly versionNeeded: number
  /** Whether a Zip64 field is present. */
  readonly isZip64: boolean
  /** The local header, read on its own. */
  readonly local: Omit<ReadEntry, 'offset' | 'mode' | 'isDosFolder' | 'local'> & {
    readonly dataOffset: number
  }
}

export type ReadAt = (position: number, length: number) => Buffer

export interface ReadZip {
  readonly entries: readonly ReadEntry[]
  readonly isZip64: boolean
  readonly names: readonly string[]
}

/** Reads the central directory and checks that every local header agrees with it. */
export function readZip(size: number, readAt: ReadAt): ReadZip {
  const end = readAt(size - 22, 22)
  assert.equal(end.readUInt32LE(0), 0x06054b50, 'ends with the end record')
  let [count, length, start] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)]
  let directoryEnd = size - 22
  const isZip64 = count === 0xffff || length === 0xffffffff || start === 0xffffffff
  if (isZip64) {
    const locator = readAt(size - 42, 20)
    assert.equal(locator.readUInt32LE(0), 0x07064b50, 'has a Zip64 locator')
    directoryEnd = Number(locator.readBigUInt64LE(8))
    const wide = readAt(directoryEnd, 56)
    assert.equal(wide.readUInt32LE(0), 0x06064b50, 'has a Zip64 end record')
    assert.equal(directoryEnd + 12 + Number(wide.readBigUInt64LE(4)), size - 42)
    assert.equal(wide.readBigUInt64LE(24), wide.readBigUInt64LE(32))
    ;[count, length, start] = [32, 40, 48].map((at) => Number(wide.readBigUInt64LE(at))) as [
      number,
      number,
      number,
    ]
  }
  assert.equal(start + length, directoryEnd, 'the directory lies just before its end record')
  const directory = readAt(start, length)
  const entries: ReadEntry[] = []
  let at = 0
  while (entries.length < count) {
    assert.equal(directory.readUInt32LE(at), 0x02014b50, `record ${entries.length}`)
    const fixed = directory.subarray(at, at + 46)
    const rest = [fixed.readUInt16LE(28), fixed.readUInt16LE(30), fixed.readUInt16LE(32)].reduce(
      (a, b) => a + b,
    )
    const common = readCommon(fixed, 6, directory.subarray(at + 46, at + 46 + rest), fixed.readUInt32LE(42))
    const attributes = fixed.readUInt32LE(38)
    const offset = common.offset ?? 0
    entries.push({
      ...common,
      offset,
      mode: attributes >>> 16,
      isDosFolder: (attributes & 0x10) !== 0,
      local: readLocal(readAt, offset),
    })
    at += 46 + rest
  }
  assert.equal(at, length, 'the directory holds nothing else')
  for (const entry of entries) agree(entry)
  return { entries, isZip64, names: entries.map(({ name }) => name) }
}

/** Unpacks an archive in memory and verifies checksums. Folders are null. */
export function unzip(bytes: Buffer): Map<string, Buffer | null> {
  const readAt: ReadAt = (position, length) => bytes.subarray(position, position + length)
  const files = new Map<string, Buffer | null>()
  let next = 0
  for (const entry of readZip(bytes.length, readAt).entries) {
    assert.equal(entry.offset, next, 'entries lie side by side')
    next = entry.local.dataOffset + entry.packedSize
    assert.ok(!files.has(entry.name), `${entry.name} is there once`)
    files.set(entry.name, entry.name.endsWith('/') ? null : contentOf(entry, readAt))
  }
  return files
}

function contentOf(entry: ReadEntry, readAt: ReadAt): Buffer {
  const packed = readAt(entry.local.dataOffset, entry.packedSize)
  const content = entry.method === 8 ? inflateRawSync(packed) : packed
  assert.equal(content.length, entry.size, entry.name)
  assert.equal(crc32(content), entry.crc, entry.name)
  return content
}

function readLocal(readAt: ReadAt, offset: number): ReadEntry['local'] {
  const fixed = readAt(offset, 30)
  assert.equal(fixed.readUInt32LE(0), 0x04034b50, 'a local header')
  const rest = readAt(offset + 30, fixed.readUInt16LE(26) + fixed.readUInt16LE(28))
  const lengths = Buffer.alloc(46)
  lengths.writeUInt16LE(fixed.readUInt16LE(26), 28)
  fixed.copy(lengths, 6, 4, 26)
  const { offset: _offset, ...common } = readCommon(lengths, 6, rest, undefined)
  return { ...common, dataOffset: offset + 30 + rest.length }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** `rest` is the name and the extra fields; `shortOffset` is the offset as the fixed field has it. */
function readCommon(fixed: Buffer, at: number, rest: Buffer, shortOffset: number | undefined) {
  const nameLength = fixed.readUInt16LE(28)
  const extra = readExtra(rest.subarray(nameLength))
  const wide = extra.get(0x0001)
  let used = 0
  const widen = (value: number) => {
    if (value !== 0xffffffff) return value
    assert.ok(wide !== undefined, 'a Zip64 field')
    used += 8
    return Number(wide.readBigUInt64LE(used - 8))
  }
  const size = widen(fixed.readUInt32LE(at + 18))
  const packedSize = widen(fixed.readUInt32LE(at + 14))
  const offset = shortOffset === undefined ? undefined : widen(shortOffset)
  assert.equal(used, wide?.length ?? 0, 'the Zip64 field holds what is asked of it')
  return {
    name: utf8.decode(rest.subarray(0, nameLength)),
    versionNeeded: fixed.readUInt16LE(at),
    flags: fixed.readUInt16LE(at + 2),
    method: fixed.readUInt16LE(at + 4),
    dosTime: dosTimeOf(fixed.readUInt16LE(at + 8), fixed.readUInt16LE(at + 6)),
    crc: fixed.readUInt32LE(at + 10),
    size,
    packedSize,
    offset,
    mtime: extra.get(0x5455)?.readInt32LE(1),
    isZip64: wide !== undefined,
  }
}

function readExtra(bytes: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>()
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt16LE(at + 2)
    fields.set(bytes.readUInt16LE(at), bytes.subarray(at + 4, at + 4 + length))
    at += 4 + length
    assert.ok(at <= bytes.length, 'extra fields end where they should')
  }
  return fields
}

const told = ['name', 'flags', 'method', 'crc', 'size', 'packedSize', 'mtime', 'dosTime'] as const

function agree(entry: ReadEntry): void {
  for (const field of told) {
    if (entry[field] !== entry.local[field])
      assert.fail(`${entry.name} has another ${field} in its local header`)
  }
}

function dosTimeOf(date: number, time: number): string {
  const parts = [
    (date >> 9) + 1980,
    (date >> 5) & 15,
    date & 31,
    time >> 11,
    (time >> 5) & 63,
    (time & 31) * 2,
  ]
  const [year, month, day, ...clock] = parts.map((part) => String(part).padStart(2, '0'))
  return `${year}-${month}-${day} ${clock.join(':')}`
}

const table = Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value >>> 0
})

function crc32(bytes: Buffer): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 255] ?? 0)
  return (crc ^ 0xffffffff) >>> 0
}
