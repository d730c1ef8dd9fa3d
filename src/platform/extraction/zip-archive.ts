import { inflateRawSync } from 'node:zlib'
import { Inflate } from 'fflate'
import { decodeAs, decodeText, findCharset } from './charset.ts'
import { type Extraction, Unreadable } from './document.ts'

interface Entry {
  readonly method: number
  readonly encrypted: boolean
  /** Bytes in the archive. */
  readonly packedSize: number
  /** Where its own header starts, in bytes. */
  readonly start: number
}

const stored = 0
const deflated = 8
// Input slice of the inflater. Each byte can expand to a thousand.
const fedBytes = 16 * 1024
const maximum32 = 0xffffffff

/** The entries of a zip file by name. What is unpacked counts against the limits of the extraction. */
export class ZipArchive {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #extraction: Extraction
  readonly #entries = new Map<string, Entry>()

  constructor(bytes: Uint8Array, extraction: Extraction) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#extraction = extraction
    if (isCompoundFile(bytes)) throw new Unreadable('is protected by a password or of an older format')
    this.#readDirectory(this.#findDirectory())
  }

  get names(): string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** The entry as far as the limits allow; undefined if there is none of that name. */
  read(name: string): Uint8Array | undefined {
    const entry = this.#entries.get(name)
    if (entry === undefined) return undefined
    if (entry.encrypted) throw new Unreadable('is protected by a password')
    const packed = this.#packedBytes(entry)
    const { limits } = this.#extraction
    const room = Math.min(limits.entryBytes, limits.unpackedBytes - this.#extraction.unpackedBytes)
    const unpacked = entry.method === stored ? packed.subarray(0, room) : inflate(packed, room)
    if (unpacked.length >= room) this.#extraction.out.truncated = true
    this.#extraction.unpackedBytes += unpacked.length
    return unpacked
  }

  /** The entry as text in the charset its XML declaration names. */
  readXml(name: string): string | undefined {
    const bytes = this.read(name)
    return bytes && decodeXml(bytes)
  }

  #packedBytes(entry: Entry): Uint8Array {
    if (entry.method !== stored && entry.method !== deflated)
      throw new Unreadable('is packed in an unknown way')
    if (!this.#holds(entry.start, 30) || this.#view.getUint32(entry.start, true) !== 0x04034b50)
      throw damaged()
    const { start } = entry
    const data = start + 30 + this.#view.getUint16(start + 26, true) + this.#view.getUint16(start + 28, true)
    return this.#bytes.subarray(data, data + entry.packedSize)
  }

  // The record that ends an archive, searched for backwards because a comment may follow it.
  #findDirectory(): number {
    const last = this.#bytes.length - 22
    for (let at = last; at >= Math.max(0, last - 0xffff); at -= 1) {
      if (this.#view.getUint32(at, true) !== 0x06054b50) continue
      const start = this.#view.getUint32(at + 16, true)
      return start === maximum32 ? this.#findLargeDirectory(at) : start
    }
    throw new Unreadable('is not what its name says, or damaged')
  }

  #findLargeDirectory(end: number): number {
    const locator = end - 20
    if (!this.#holds(locator, 20) || this.#view.getUint32(locator, true) !== 0x07064b50) throw damaged()
    const record = Number(this.#view.getBigUint64(locator + 8, true))
    if (!this.#holds(record, 56)) throw damaged()
    return Number(this.#view.getBigUint64(record + 48, true))
  }

  #readDirectory(start: number): void {
    let at = start
    let count = 0
    while (this.#holds(at, 46) && this.#view.getUint32(at, true) === 0x02014b50) {
      count += 1
      if (count > this.#extraction.limits.archiveEntries) throw new Unreadable('has too many parts')
      const nameLength = this.#view.getUint16(at + 28, true)
      const extraLength = this.#view.getUint16(at + 30, true)
      const name = decodeAs(this.#bytes.subarray(at + 46, at + 46 + nameLength), 'utf-8').text
      const extra = { start: at + 46 + nameLength, length: extraLength }
      this.#entries.set(name.replaceAll('\\', '/').replace(/^\//, ''), this.#readEntry(at, extra))
      at += 46 + nameLength + extraLength + this.#view.getUint16(at + 32, true)
    }
    if (count === 0) throw damaged()
  }

  #readEntry(at: number, extra: { start: number; length: number }): Entry {
    const sizes = [24, 20, 42].map((offset) => this.#view.getUint32(at + offset, true))
    const [, packedSize = 0, start = 0] = sizes.includes(maximum32) ? this.#largeSizes(sizes, extra) : sizes
    return {
      method: this.#view.getUint16(at + 10, true),
      encrypted: (this.#view.getUint16(at + 8, true) & 1) === 1,
      packedSize,
      start,
    }
  }

  // Numbers that do not fit in 32 bits follow in an extra field, in the order of the fields they replace.
  #largeSizes(sizes: readonly number[], extra: { start: number; length: number }): number[] {
    let at = extra.start
    const end = at + extra.length
    while (at + 4 <= end && this.#holds(at, 4) && this.#view.getUint16(at, true) !== 1) {
      at += 4 + this.#view.getUint16(at + 2, true)
    }
    at += 4
    return sizes.map((size) => {
      if (size !== maximum32) return size
      if (!this.#holds(at, 8)) throw damaged()
      at += 8
      return Number(this.#view.getBigUint64(at - 8, true))
    })
  }

  #holds(start: number, length: number): boolean {
    return start >= 0 && start + length <= this.#bytes.length
  }
}

/** XML as text: UTF-8 unless it says or shows otherwise. */
export function decodeXml(bytes: Uint8Array): string {
  const start = decodeAs(bytes.subarray(0, 200), 'latin1').text
  const label = /^<\?xml[^>]{0,150}encoding\s*=\s*["']([\w-]{1,40})/.exec(start)?.[1]
  const declared = label === undefined ? undefined : findCharset(label)
  // UTF-16 that could be read here as ASCII is none.
  if (declared !== undefined && !declared.startsWith('utf')) return decodeAs(bytes, declared).text
  return decodeText(bytes, { cut: true })?.text ?? decodeAs(bytes, 'utf-8').text
}

// In one call if the output is within the limit and valid, which is nearly always; otherwise incrementally.
function inflate(packed: Uint8Array, room: number): Uint8Array {
  if (room <= 0) return new Uint8Array()
  try {
    return inflateRawSync(packed, { maxOutputLength: room })
  } catch {
    return inflateInPart(packed, room)
  }
}

// Input is fed in slices, so that a zip bomb is stopped soon after the limit.
function inflateInPart(packed: Uint8Array, room: number): Uint8Array {
  const unpacked = { pieces: [] as Uint8Array[], length: 0 }
  const inflater = new Inflate((piece) => {
    unpacked.pieces.push(piece)
    unpacked.length += piece.length
  })
  for (let at = 0; at < packed.length && unpacked.length < room; at += fedBytes) {
    try {
      inflater.push(packed.subarray(at, at + fedBytes), at + fedBytes >= packed.length)
    } catch (error) {
      // Keep the output before the damage.
      if (unpacked.length === 0) throw new Unreadable('is damaged', { cause: error })
      break
    }
  }
  return Buffer.concat(unpacked.pieces, Math.min(unpacked.length, room))
}

function isCompoundFile(bytes: Uint8Array): boolean {
  return [0xd0, 0xcf, 0x11, 0xe0].every((byte, index) => bytes[index] === byte)
}

function damaged(): Unreadable {
  return new Unreadable('is damaged')
}
