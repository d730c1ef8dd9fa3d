import type { Decipheriv } from 'node:crypto'
import { BlockDamaged, type ByteRange } from '../../platform/storage/index.ts'
import type { SizedBlock } from './block-rows-store.ts'
import { CIPHER_BLOCK_BYTES, type DataKey } from './data-key.ts'

/** A block of ciphertext and the length of its padding. */
interface PaddedBlock extends SizedBlock {
  readonly padding: number
}

/** Reads a block as it is stored. */
export type ReadStored = (range: ByteRange) => AsyncGenerator<Buffer, void>

/**
 * Decrypts a range of a block. Decryption starts at the cipher block before the range, so that no more is read than needed.
 * Throws BlockDamaged if the block was not encrypted with this key.
 */
export async function* decryptPart(
  key: DataKey,
  block: PaddedBlock,
  { start, end }: ByteRange,
  readStored: ReadStored,
): AsyncGenerator<Buffer, void> {
  if (start >= end) return
  const first = start - (start % CIPHER_BLOCK_BYTES)
  const isLast = end === block.size - block.padding
  const stored = {
    start: Math.max(0, first - CIPHER_BLOCK_BYTES),
    end: isLast ? block.size : Math.ceil(end / CIPHER_BLOCK_BYTES) * CIPHER_BLOCK_BYTES,
  }
  let skip = start - first
  let left = end - start
  const padding: Buffer[] = []
  // The last chunk is yielded only after the padding was verified.
  let last: Buffer | undefined
  for await (const plain of decrypted(key, first > 0, readStored(stored))) {
    const wanted = plain.subarray(skip, skip + left)
    const rest = plain.subarray(skip + wanted.length)
    skip = Math.max(0, skip - plain.length)
    left -= wanted.length
    if (left === 0 && rest.length > 0) padding.push(rest)
    if (wanted.length === 0) continue
    if (last !== undefined) yield last
    last = wanted
  }
  if (left > 0) throw new BlockDamaged(block.id, 'it ends too early')
  if (isLast) checkPadding(block, Buffer.concat(padding))
  if (last !== undefined) yield last
}

/** Reads the length of the padding from the end of a block. Throws BlockDamaged. */
export async function readPadding(key: DataKey, block: SizedBlock, readStored: ReadStored): Promise<number> {
  const start = Math.max(0, block.size - 2 * CIPHER_BLOCK_BYTES)
  const hasBefore = block.size > CIPHER_BLOCK_BYTES
  const tail: Buffer[] = []
  for await (const plain of decrypted(key, hasBefore, readStored({ start, end: block.size })))
    tail.push(plain)
  const end = Buffer.concat(tail)
  const padding = end.at(-1) ?? 0
  if (padding < 1 || padding > CIPHER_BLOCK_BYTES) throw wrongKey(block)
  checkPadding({ ...block, padding }, end.subarray(end.length - padding))
  return padding
}

/** Plaintext including padding. `hasBefore`: the ciphertext starts with the preceding cipher block, which is the IV. */
async function* decrypted(
  key: DataKey,
  hasBefore: boolean,
  stored: AsyncGenerator<Buffer, void>,
): AsyncGenerator<Buffer, void> {
  let before = Buffer.alloc(0)
  let decipher: Decipheriv | undefined = hasBefore ? undefined : key.decryptor()
  for await (const chunk of stored) {
    let bytes = chunk
    if (decipher === undefined) {
      const missing = CIPHER_BLOCK_BYTES - before.length
      before = Buffer.concat([before, bytes.subarray(0, missing)])
      bytes = bytes.subarray(missing)
      if (before.length < CIPHER_BLOCK_BYTES) continue
      decipher = key.decryptor(before)
    }
    const plain = decipher.update(bytes)
    if (plain.length > 0) yield plain
  }
}

function checkPadding(block: PaddedBlock, found: Buffer): void {
  if (found.length !== block.padding || !found.every((byte) => byte === block.padding)) {
    throw wrongKey(block)
  }
}

function wrongKey({ id }: SizedBlock): BlockDamaged {
  return new BlockDamaged(id, 'it was not encrypted with the key of its library')
}
