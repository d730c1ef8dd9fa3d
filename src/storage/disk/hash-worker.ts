import { createHash, type Hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'

/** The next bytes of a file, in a slab. */
export interface HashOrder {
  readonly file: number
  /** Number of the memory. */
  readonly memory: number
  /** The memory itself, when its number is new. */
  readonly shared?: SharedArrayBuffer
  readonly offset: number
  readonly length: number
  /** Whether the file ends here, so that its hash is asked for. */
  readonly isLast: boolean
}

/** A file is not wanted any more. Not answered. */
export interface AbandonOrder {
  readonly abandon: number
}

/** The oldest order that was not answered is done. */
export interface HashReply {
  readonly sha1?: string
}

const memories: Buffer[] = []
const hashes = new Map<number, Hash>()

parentPort?.on('message', (order: HashOrder | AbandonOrder) => {
  if ('abandon' in order) return void hashes.delete(order.abandon)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(carryOut(order))
})

function carryOut({ file, memory, shared, offset, length, isLast }: HashOrder): HashReply {
  if (shared !== undefined) memories[memory] = Buffer.from(shared)
  const bytes = memories[memory]
  if (bytes === undefined) throw new Error('a slab is in a memory nobody told of')
  const hash = hashes.get(file) ?? createHash('sha1')
  hash.update(bytes.subarray(offset, offset + length))
  if (isLast) hashes.delete(file)
  else hashes.set(file, hash)
  return isLast ? { sha1: hash.digest('hex') } : {}
}
