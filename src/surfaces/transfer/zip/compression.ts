import { crc32, createDeflateRaw } from 'node:zlib'
import { DEFLATE, type Deflaters } from './deflaters.ts'
import type { ZipMethod } from './records.ts'

/** Size of the compressibility sample, in bytes. */
const PROBE_BYTES = 64 * 1024

// A smaller gain is not worth the CPU time.
const PAYING_RATIO = 0.85
const SMALLEST_PAYING = 256
// Random and compressed bytes have nearly 8 bits of entropy each, programs about 6, text about 5.
const RANDOM_BITS = 7.8
const SAMPLE_BYTES = 4 * 1024
const CRC_SLICE_BYTES = 1024 * 1024

// Compressed formats. Others are detected by sampling.
const packedExtensions = new Set(
  (
    '7z aac aif apk avi avif br bz2 cab cr2 docx dmg epub flac flv gif gz heic heif jar jpeg jpg lz lz4 lzma m4a m4v ' +
    'mkv mov mp3 mp4 mpeg mpg odp ods odt ogg opus pptx png rar rpm tgz txz webm webp wma wmv woff woff2 xlsx xz z zip zst'
  ).split(' '),
)

/** Whether the extension implies compressed content. */
export function isPackedFormat(name: string): boolean {
  const dot = name.lastIndexOf('.')
  return dot >= 0 && packedExtensions.has(name.slice(dot + 1).toLowerCase())
}

/** Whether deflating pays, judged by the first bytes of a file. The work is done in the thread pool. */
export async function pays(start: Buffer, deflaters: Deflaters): Promise<boolean> {
  const probe = start.subarray(0, PROBE_BYTES)
  if (!mayShrink(probe)) return false
  return (await deflaters.deflate(probe)).length <= probe.length * PAYING_RATIO
}

/** The stored form of a whole file of at most MAX_DEFLATED bytes. The buffer must not change until this settles. */
export async function packWhole(
  name: string,
  bytes: Buffer,
  deflaters: Deflaters,
): Promise<{ method: ZipMethod; packed: Buffer }> {
  const stored = { method: 'stored', packed: bytes } as const
  if (isPackedFormat(name) || !mayShrink(bytes)) return stored
  if (bytes.length > 2 * PROBE_BYTES && !(await pays(bytes, deflaters))) return stored
  const packed = await deflaters.deflate(bytes)
  return packed.length <= bytes.length * PAYING_RATIO ? { method: 'deflated', packed } : stored
}

/** A stream that deflates in the thread pool. */
export function createPacker() {
  return createDeflateRaw({ ...DEFLATE, chunkSize: 64 * 1024 })
}

/** Continues the CRC-32 `crc` with `bytes`. */
export function addToCrc(crc: number, bytes: Uint8Array): number {
  let sum = crc
  for (let start = 0; start < bytes.length; start += CRC_SLICE_BYTES)
    sum = crc32(bytes.subarray(start, start + CRC_SLICE_BYTES), sum)
  return sum
}

/** Entropy estimate, far cheaper than deflating: high-entropy bytes do not shrink. */
function mayShrink(bytes: Buffer): boolean {
  return bytes.length >= SMALLEST_PAYING && bitsPerByte(bytes.subarray(0, SAMPLE_BYTES)) < RANDOM_BITS
}

function bitsPerByte(sample: Buffer): number {
  const counts = new Uint32Array(256)
  for (let at = 0; at < sample.length; at++) counts[sample[at] as number]! += 1
  let bits = 0
  for (const count of counts) if (count > 0) bits -= count * Math.log2(count / sample.length)
  return bits / sample.length
}
