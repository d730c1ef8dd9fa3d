import { hash } from 'node:crypto'

/** Bytes that look random and are the same for each seed. */
export function randomBytesFrom(seed: string, length: number): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < length; at += 32) parts.push(hash('sha256', `${seed} ${at}`, 'buffer'))
  return Buffer.concat(parts).subarray(0, length)
}
