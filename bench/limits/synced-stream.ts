import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { LongBodies, PIECE_BYTES } from '../load/stream-body.ts'

const SYNC_EVERY = 8 * PIECE_BYTES

/**
 * Bytes a second the disk of a folder takes from one writer who writes a MiB at a time and syncs every
 * eighth, which is how blocks come to rest.
 */
export function measureSyncedStream(folder: string, bytes: number): number {
  const file = path.join(folder, 'synced-stream')
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
  new LongBodies().fill(piece, 0, 0)
  const handle = openSync(file, 'w')
  try {
    const began = performance.now()
    let written = 0
    while (written < bytes) {
      written += writeSync(handle, piece)
      if (written % SYNC_EVERY === 0) fdatasyncSync(handle)
    }
    fdatasyncSync(handle)
    return written / ((performance.now() - began) / 1000)
  } finally {
    closeSync(handle)
    rmSync(file)
  }
}
