import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

export type CheckpointMode = 'passive' | 'restart' | 'truncate'

/** The result of a checkpoint, in frames of the log; `busy` if another connection blocked it. */
export interface CheckpointResult {
  busy: boolean
  log: number
  checkpointed: number
}

export type CheckpointReply = { result: CheckpointResult } | { error: Error; code: number }

// The connection of this thread. synchronous=FULL makes a checkpoint flush the log before it copies from it, and the database file before the
// log is overwritten.
const { file } = workerData as { file: string }
const connection = new DatabaseSync(file, { timeout: 5000 })
connection.exec('pragma synchronous = full; pragma wal_autocheckpoint = 0')

parentPort?.on('message', (mode: CheckpointMode) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(checkpoint(mode))
})

function checkpoint(mode: CheckpointMode): CheckpointReply {
  try {
    const row = connection.prepare(`pragma wal_checkpoint(${mode})`).get()
    return {
      result: { busy: row?.busy !== 0, log: Number(row?.log), checkpointed: Number(row?.checkpointed) },
    }
  } catch (error) {
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
    return { error: error instanceof Error ? error : new Error(String(error)), code }
  }
}
