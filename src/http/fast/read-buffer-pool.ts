import { poison } from '../../poison.ts'

/** Bytes read at once at most. It holds the event loop for a fraction of a millisecond (I10). */
const SPACE_BYTES = 2 ** 20
const MOST_SPACES = 8

/** A pool of buffers to read long bodies into: new memory would cost more than reading into it. */
const spaces: Buffer[] = []

export function borrowReadBuffer(): Buffer {
  return spaces.pop() ?? Buffer.allocUnsafeSlow(SPACE_BYTES)
}

/** Returns a buffer that nobody uses any more. */
export function returnReadBuffer(space: Buffer): void {
  poison(space)
  if (spaces.length < MOST_SPACES) spaces.push(space)
}
