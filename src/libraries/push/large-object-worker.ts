import { parentPort } from 'node:worker_threads'
import { InvalidObject } from '../../base/objects/index.ts'
import type { LargeObjectAnswer, LargeObjectTask } from './large-objects.ts'
import { readSent } from './object-parser.ts'

parentPort?.on('message', ({ id, packed, most }: LargeObjectTask) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(answer({ id, packed, most }))
})

function answer({ id, packed, most }: LargeObjectTask): LargeObjectAnswer {
  try {
    const object = readSent({ id, packed: Buffer.from(packed) }, most)
    return object === undefined ? { invalid: 'is too large' } : { object }
  } catch (error) {
    if (error instanceof InvalidObject) return { invalid: error.message }
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
