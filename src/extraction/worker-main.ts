// The process in which files are read. It lives as long as the server holds the other end of its channel.
import { Worker } from 'node:worker_threads'
import { extractText } from './extract-text.ts'
import type { Limits } from './limits.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'
import { processorMs, type Watched } from './worker-usage.ts'

let name = ''
let limits: Limits | undefined
let pieces: Uint8Array[] = []
let deadline: Int32Array | undefined

// Whoever stops the server by a signal to its whole group must not look like a file that cannot be read.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)

// A reader of damaged files leaves promises behind that nobody waits for. What it was asked for is answered all the same.
process.on('unhandledRejection', () => undefined)

process.on('message', (message: ToWorker) => {
  if (message.kind === 'bytes') {
    pieces.push(message.bytes)
  } else if (message.kind === 'begin') {
    name = message.name
    limits = message.limits
    deadline ??= startWatch(message.limits)
    pieces = []
  } else if (limits !== undefined) {
    const bytes = Buffer.concat(pieces)
    pieces = []
    void work(bytes, message.cut, limits)
  }
})
say({ kind: 'ready' })

async function work(bytes: Uint8Array, cut: boolean, limits: Limits): Promise<void> {
  setDeadline(processorMs() + limits.workMs)
  const extracted = await extractText({ name, bytes, cut }, limits)
  setDeadline(0)
  say({ kind: 'done', extracted, tired: process.memoryUsage.rss() > limits.processBytes / 2 })
}

// A thread beside this one, because nobody else could see how much a reader takes that runs in circles, or stop it once
// the server is gone.
function startWatch({ processBytes }: Limits): Int32Array {
  const deadline = new Int32Array(new SharedArrayBuffer(4))
  const watch = new Worker(new URL('./worker-watch.ts', import.meta.url), {
    workerData: { deadline, processBytes } satisfies Watched,
  })
  watch.unref()
  return deadline
}

function setDeadline(ms: number): void {
  if (deadline !== undefined) Atomics.store(deadline, 0, Math.ceil(ms))
}

function say(message: FromWorker): void {
  process.send?.(message)
}
