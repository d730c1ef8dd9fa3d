import { hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'

const SALT = Buffer.from('da9045c306c7cc26', 'hex')
const ROUNDS = 524_288

const input: Uint8Array = workerData
const first = repeatedHash(Buffer.concat([input, SALT]))
const second = repeatedHash(Buffer.concat([first, input, SALT]))
// A thread has no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(Buffer.concat([first, second]).subarray(0, 32))

function repeatedHash(message: Buffer): Buffer {
  let digest = message
  for (let round = 0; round < ROUNDS; round++) digest = hash('sha1', digest, 'buffer')
  return digest
}
