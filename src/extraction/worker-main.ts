// The process in which files are read. It lives as long as the server holds the other end of its channel.
import { Worker } from 'node:worker_threads'
import { extractText } from './extract-text.ts'
import type { Limits } from './limits.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

let name = ''
let limits: Limits | undefined
let pieces: Uint8Array[] = []
let watched: Int32Array | undefined

process.on('message', (message: ToWorker) => {
  if (message.kind === 'bytes') {
    pieces.push(message.bytes)
  } else if (message.kind === 'begin') {
    name = message.name
    limits = message.limits
    watched ??= startWatch(message.limits)
    pieces = []
  } else if (limits !== undefined) {
    const bytes = Buffer.concat(pieces)
    pieces = []
    void work(bytes, message.cut, limits)
  }
})
say({ kind: 'ready' })

async function work(bytes: Uint8Array, cut: boolean, limits: Limits): Promise<void> {
  setDeadline(Date.now() + 2 * limits.timeMs)
  const extracted = await extractText({ name, bytes, cut }, limits)
  setDeadline(0)
  say({ kind: 'done', extracted, tired: process.memoryUsage.rss() > limits.processBytes / 2 })
}

// A thread beside this one, because nobody else can stop a reader that runs in circles once the server is gone, or see
// how much memory it takes.
function startWatch(limits: Limits): Int32Array {
  const shared = new Int32Array(new SharedArrayBuffer(4))
  const { processBytes } = limits
  const watch = new Worker(new URL('./worker-watch.ts', import.meta.url), {
    workerData: { shared, processBytes },
  })
  watch.unref()
  return shared
}

function setDeadline(timeMs: number): void {
  if (watched !== undefined) Atomics.store(watched, 0, Math.ceil(timeMs / 1000))
}

function say(message: FromWorker): void {
  process.send?.(message)
}
