import { createHash, type Hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'

/** The next bytes of a file, in a slab. */
export interface HashOrder {
  readonly file: number
  readonly slab: number
  readonly length: number
  /** Whether the file ends here, so that its hash is asked for. */
  readonly isLast: boolean
}

/** A file is not wanted any more. Not answered. */
export interface AbandonOrder {
  readonly abandon: number
}

/** The slab was read. */
export interface HashReply {
  readonly slab: number
  readonly sha1?: string
}

export interface HashThreadData {
  readonly slabs: SharedArrayBuffer
  readonly slabBytes: number
}

const { slabs, slabBytes } = workerData as HashThreadData
const memory = Buffer.from(slabs)
const hashes = new Map<number, Hash>()

parentPort?.on('message', (order: HashOrder | AbandonOrder) => {
  if ('abandon' in order) return void hashes.delete(order.abandon)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(carryOut(order))
})

function carryOut({ file, slab, length, isLast }: HashOrder): HashReply {
  const hash = hashes.get(file) ?? createHash('sha1')
  hash.update(memory.subarray(slab * slabBytes, slab * slabBytes + length))
  if (isLast) hashes.delete(file)
  else hashes.set(file, hash)
  return isLast ? { slab, sha1: hash.digest('hex') } : { slab }
}
