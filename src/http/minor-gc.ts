import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// V8 looks through all of its heap, on all cores, when the buffers outside of it outgrow it, which costs a long upload a
// third of its time. They are as good as gone by then: looking through the newest objects alone frees them.
const EVERY_BYTES = 6 * 2 ** 20

let received = 0
let collect: ((options: { type: 'minor' }) => void) | undefined

/** To be told of the bytes of bodies as they come in. */
export function noteReceived(bytes: number): void {
  received += bytes
  if (received < EVERY_BYTES) return
  received = 0
  collect ??= exposed()
  collect({ type: 'minor' })
}

function exposed(): (options: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as (options: { type: 'minor' }) => void
}
