import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { LongBodies, PIECE_BYTES } from '../load/stream-body.ts'

const FLUSH_INTERVAL_BYTES = 8 * PIECE_BYTES

/**
 * Bytes per second of one writer that writes 1 MiB at a time and calls fdatasync after every 8 MiB, as the block
 * store does.
 */
export function measureFlushedStream(folder: string, bytes: number): number {
  const file = path.join(folder, 'flushed-stream')
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
  new LongBodies().fill(piece, 0, 0)
  const handle = openSync(file, 'w')
  try {
    const began = performance.now()
    let written = 0
    while (written < bytes) {
      written += writeSync(handle, piece)
      if (written % FLUSH_INTERVAL_BYTES === 0) fdatasyncSync(handle)
    }
    fdatasyncSync(handle)
    return written / ((performance.now() - began) / 1000)
  } finally {
    closeSync(handle)
    rmSync(file)
  }
}
