import { hash, randomBytes } from 'node:crypto'

/** SHA-1 bytes per second of one core, in pieces of the size of a large folder. */
export function measureSha1(ms: number): number {
  const bytes = randomBytes(2_800_000)
  const began = performance.now()
  let hashed = 0
  while (performance.now() - began < ms) {
    hash('sha1', bytes, 'buffer')
    hashed += bytes.length
  }
  return hashed / ((performance.now() - began) / 1000)
}
