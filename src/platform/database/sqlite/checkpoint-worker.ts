import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/** `truncate-now`: truncates unless another connection uses the log, without waiting for it. */
export type CheckpointMode = 'passive' | 'restart' | 'truncate' | 'truncate-now'

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
/** Only at the end of the process it waits for readers. Otherwise the writers would wait with it. */
const BUSY_TIMEOUT_MS = 5000
const connection = new DatabaseSync(file)
connection.exec('pragma synchronous = full; pragma wal_autocheckpoint = 0')

parentPort?.on('message', (mode: CheckpointMode) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(checkpoint(mode))
})

function checkpoint(mode: CheckpointMode): CheckpointReply {
  try {
    connection.exec(`pragma busy_timeout = ${mode === 'truncate' ? BUSY_TIMEOUT_MS : 0}`)
    const row = connection
      .prepare(`pragma wal_checkpoint(${mode === 'truncate-now' ? 'truncate' : mode})`)
      .get()
    return {
      result: { busy: row?.busy !== 0, log: Number(row?.log), checkpointed: Number(row?.checkpointed) },
    }
  } catch (error) {
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
    return { error: error instanceof Error ? error : new Error(String(error)), code }
  }
}
