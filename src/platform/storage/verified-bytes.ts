import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { BlockId } from '../../base/objects/index.ts'
import { BlockDamaged, BlockMismatch, type BlockSource } from './block-store.ts'

// SHA-1 of as many bytes holds the event loop for about a millisecond (I10).
const SLICE_BYTES = 1024 * 1024

/**
 * Verifies a block that is being written: yields its bytes in slices and throws BlockMismatch at the end if they do not hash to `id`. The
 * caller must then discard them. Every block enters a store through this function or a BlockWriter.
 */
export async function* verifiedWrite(id: BlockId, source: BlockSource, signal?: AbortSignal) {
  const hash = createHash('sha1')
  const chunks = source instanceof Uint8Array ? [source] : untilAborted(source, signal)
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      if (start > 0) await setImmediate()
      signal?.throwIfAborted()
      const slice = chunk.subarray(start, start + SLICE_BYTES)
      hash.update(slice)
      yield slice
    }
  }
  signal?.throwIfAborted()
  const actual = hash.digest('hex')
  if (actual !== id) throw new BlockMismatch(id, actual)
}

/**
 * Verifies a whole block of `size` bytes that is being read: the last chunk is yielded only if all of them hash to `id` (I6). The source is
 * not asked for more until the consumer is done with that chunk, because its buffer may be reused then.
 */
export async function* verifiedRead(id: BlockId, size: number, chunks: AsyncIterable<Buffer>) {
  const hash = createHash('sha1')
  let left = size
  for await (const chunk of chunks) {
    hash.update(chunk)
    left -= chunk.length
    if (left === 0) expectHash(id, hash.digest('hex'))
    yield chunk
  }
  if (left !== 0) throw new BlockDamaged(id, `it has ${size - left} bytes`)
  if (size === 0) expectHash(id, hash.digest('hex'))
}

function expectHash(id: BlockId, actual: string): void {
  if (actual !== id) throw new BlockDamaged(id, `its bytes hash to ${actual}`)
}

/** The chunks of `source`, until `signal` says stop, even while the source is silent. */
async function* untilAborted(source: AsyncIterable<Uint8Array>, signal?: AbortSignal) {
  if (signal === undefined) return yield* source
  const iterator = source[Symbol.asyncIterator]()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  aborted.catch(() => {}) // It also rejects when nobody waits for it.
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  let ended = false
  try {
    if (signal.aborted) onAbort()
    for (;;) {
      const step = await Promise.race([aborted, iterator.next()])
      ended = step.done === true
      if (step.done === true) return undefined
      yield step.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // Not awaited: a source that is silent might never come to it.
    if (!ended) iterator.return?.().catch(() => {})
  }
}
