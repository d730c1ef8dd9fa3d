import { createHash, type Hash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

/** Bytes in a slab that go to the end of a file. */
export interface WriteOrder {
  readonly file: number
  readonly descriptor: number
  readonly slab: number
  readonly length: number
  /** Whether the file ends here, so that its hash is asked for. */
  readonly isLast: boolean
}

/** A file is not wanted any more. Not answered. */
export interface AbandonOrder {
  readonly abandon: number
}

/** The slab is free again, and what came of the order. */
export interface WriteReply {
  readonly file: number
  readonly slab: number
  readonly sha1?: string
  readonly error?: Error
}

export interface WriteThreadData {
  readonly slabs: SharedArrayBuffer
  readonly slabBytes: number
}

interface OpenFile {
  readonly hash: Hash
  position: number
}

const { slabs, slabBytes } = workerData as WriteThreadData
const memory = Buffer.from(slabs)
const files = new Map<number, OpenFile>()

parentPort?.on('message', (order: WriteOrder | AbandonOrder) => {
  if ('abandon' in order) return void files.delete(order.abandon)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(carryOut(order))
})

function carryOut({ file, descriptor, slab, length, isLast }: WriteOrder): WriteReply {
  const open = files.get(file) ?? { hash: createHash('sha1'), position: 0 }
  try {
    const bytes = memory.subarray(slab * slabBytes, slab * slabBytes + length)
    open.hash.update(bytes)
    for (let at = 0; at < length; ) {
      const written = writeSync(descriptor, bytes, at, length - at, open.position)
      at += written
      open.position += written
    }
    if (isLast) files.delete(file)
    else files.set(file, open)
    return isLast ? { file, slab, sha1: open.hash.digest('hex') } : { file, slab }
  } catch (error) {
    files.delete(file)
    return { file, slab, error: error instanceof Error ? error : new Error(String(error)) }
  }
}
