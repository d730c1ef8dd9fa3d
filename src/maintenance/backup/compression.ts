import { promisify } from 'node:util'
import { constants, zstdCompress, zstdCompressSync, zstdDecompress } from 'node:zlib'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const STORED = 0
const ZSTD = 1
const SAMPLE_BYTES = 64 * 1024
/** No blob is longer: a list of chunks has 67 bytes for each. */
const MAX_BYTES = 2 ** 30
const WORTHWHILE = 0.95
const PARAMETERS = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }

/** A byte that names the method, then the bytes, compressed with zstd if that makes them smaller. */
export async function pack(bytes: Uint8Array): Promise<Buffer> {
  // Most large blocks are compressed media. The beginning decides, so that they are not compressed for nothing.
  const sample = bytes.length > SAMPLE_BYTES ? bytes.subarray(0, SAMPLE_BYTES) : bytes
  // Synchronous: a context is then freed at once. Those of asynchronous calls took 30 KB for each small blob.
  const trial = zstdCompressSync(sample, PARAMETERS)
  if (trial.length > sample.length * WORTHWHILE) return Buffer.concat([Buffer.of(STORED), bytes])
  return Buffer.concat([Buffer.of(ZSTD), sample === bytes ? trial : await compress(bytes, PARAMETERS)])
}

/** Throws if the bytes are not what `pack` returned. */
export async function unpack(packed: Buffer): Promise<Buffer> {
  const bytes = packed.subarray(1)
  if (packed[0] === STORED) return bytes
  if (packed[0] !== ZSTD) throw new Error('The compression method is unknown.')
  return decompress(bytes, { maxOutputLength: MAX_BYTES })
}
