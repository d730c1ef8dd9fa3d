import type { FsId } from '../objects/index.ts'

/** Bytes of a packet header: the id as text, and the length. */
export const PACKET_HEAD_BYTES = 44

/** The header of a packet, the transfer format of fs objects: 40 characters of id, 4 bytes of length (big-endian), the object as zlib. */
export function packetHead(id: FsId, length: number): Buffer {
  const head = Buffer.allocUnsafe(PACKET_HEAD_BYTES)
  head.write(id, 0, 'latin1')
  head.writeUInt32BE(length, 40)
  return head
}

const MAX_STORED_BYTES = 0xffff

/** A zlib stream with one stored block, for objects too small to benefit from compression. */
export function zlibStored(bytes: Buffer): Buffer {
  if (bytes.length > MAX_STORED_BYTES) throw new RangeError('too large for one stored block')
  const stream = Buffer.allocUnsafe(bytes.length + 11)
  stream.writeUInt16BE(0x7801, 0)
  stream[2] = 1
  stream.writeUInt16LE(bytes.length, 3)
  stream.writeUInt16LE(bytes.length ^ 0xffff, 5)
  bytes.copy(stream, 7)
  stream.writeUInt32BE(adler32(bytes), bytes.length + 7)
  return stream
}

// Maximum bytes that can be summed before the sums exceed 32 bits.
const BYTES_PER_ROUND = 5552

function adler32(bytes: Buffer): number {
  let low = 1
  let high = 0
  for (let start = 0; start < bytes.length; start += BYTES_PER_ROUND) {
    const end = Math.min(start + BYTES_PER_ROUND, bytes.length)
    for (let at = start; at < end; at++) {
      low += bytes[at] as number
      high += low
    }
    low %= 65521
    high %= 65521
  }
  return ((high << 16) | low) >>> 0
}
