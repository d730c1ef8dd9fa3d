import { hash, randomBytes } from 'node:crypto'

/** Bytes a second one core hashes with SHA-1, a few megabytes at a time as big folders are. */
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
