import { poison } from '../../../base/poison.ts'

/** Bytes read at once at most. Copying them takes a fraction of a millisecond (I10). */
const BUFFER_BYTES = 2 ** 20
const MAX_POOLED = 8

/** Buffers that large bodies are read into. Allocating one costs more than reading into it. */
const pool: Buffer[] = []

export function borrowReadBuffer(): Buffer {
  return pool.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
}

export function returnReadBuffer(buffer: Buffer): void {
  poison(buffer)
  if (pool.length < MAX_POOLED) pool.push(buffer)
}
