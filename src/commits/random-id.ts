import { randomFillSync } from 'node:crypto'

const ID_BYTES = 20
const IDS_AT_ONCE = 128

const drawn = Buffer.alloc(ID_BYTES * IDS_AT_ONCE)
let used = drawn.length

/** Random bytes that make an id its own, drawn for many ids at once. They are to be used before more are asked for. */
export function randomBytesOfId(): Uint8Array {
  if (used === drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += ID_BYTES
  return drawn.subarray(used - ID_BYTES, used)
}
