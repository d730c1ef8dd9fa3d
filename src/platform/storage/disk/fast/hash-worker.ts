import { createHash, type Hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'

/** The next bytes of a file, in a shared buffer. */
export interface HashRequest {
  readonly file: number
  /** Index of the shared memory. */
  readonly memory: number
  /** The memory itself, when the worker does not know it yet. */
  readonly shared?: SharedArrayBuffer
  readonly offset: number
  readonly length: number
  /** Whether the file ends here; the reply then carries its hash. */
  readonly isLast: boolean
}

/** Drops the hash state of a file. Has no reply. */
export interface AbandonRequest {
  readonly abandon: number
}

/** Answers the oldest pending request. */
export interface HashReply {
  readonly sha1?: string
}

const memories: Buffer[] = []
const hashes = new Map<number, Hash>()

parentPort?.on('message', (request: HashRequest | AbandonRequest) => {
  if ('abandon' in request) return void hashes.delete(request.abandon)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(handle(request))
})

function handle({ file, memory, shared, offset, length, isLast }: HashRequest): HashReply {
  if (shared !== undefined) memories[memory] = Buffer.from(shared)
  const bytes = memories[memory]
  if (bytes === undefined) throw new Error('a request refers to unknown shared memory')
  const hash = hashes.get(file) ?? createHash('sha1')
  hash.update(bytes.subarray(offset, offset + length))
  if (isLast) hashes.delete(file)
  else hashes.set(file, hash)
  return isLast ? { sha1: hash.digest('hex') } : {}
}
