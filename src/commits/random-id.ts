import { randomFillSync } from 'node:crypto'

const ID_BYTES = 20
const IDS_AT_ONCE = 128

const drawn = Buffer.alloc(ID_BYTES * IDS_AT_ONCE)
let used = drawn.length

/** Random bytes for an id, generated in batches. The result is valid until the next call. */
export function randomBytesOfId(): Uint8Array {
  if (used === drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += ID_BYTES
  return drawn.subarray(used - ID_BYTES, used)
}
