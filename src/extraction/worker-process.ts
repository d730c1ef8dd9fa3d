import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, getPriority, setPriority } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Extracted } from './extract-text.ts'
import type { Limits } from './limits.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'
import { lastWords } from './worker-usage.ts'

/** A file for a worker to read. */
export interface Job {
  readonly name: string
  readonly read: () => AsyncIterable<Buffer>
  /** Bytes to take of it; `whole` if it is of no use when there are more. */
  readonly mostBytes: number
  readonly whole: boolean
}

interface Running {
  phase: 'reading' | 'working'
  readonly settled: Promise<unknown>
  resolve(extracted: Extracted): void
  reject(error: unknown): void
}

const tookTooLong = 'takes too long to read'

/** What one message to a worker carries; more would hold up the event loop while it is copied. */
const messageBytes = 256 * 1024

/**
 * A process that reads one file at a time. It is a process and not a thread because a thread that runs out of memory
 * takes the server with it, if what it asked for last was large.
 */
export class WorkerProcess {
  readonly #limits: Limits
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  #running: Running | undefined
  #isReady = false
  #complaint = ''
  #killedBy: Error | undefined
  isAlive = true

  constructor(limits: Limits) {
    this.#limits = limits
    this.#child = start(limits)
    this.#exited = once(this.#child, 'close').catch(() => undefined)
    this.#child.on('message', (message: FromWorker) => this.#hear(message))
    this.#child.on('error', (error) => {
      this.isAlive = false
      this.#running?.reject(error)
    })
    this.#child.on('exit', () => {
      this.isAlive = false
    })
    this.#child.on('close', (code, signal) => this.#end(code, signal))
    this.#child.stderr?.on('data', (data: Buffer) => {
      this.#complaint = (this.#complaint + data.toString()).slice(-4000)
    })
  }

  /** Rejects with what `job.read` throws, the reason of the signal, or an error that is not about the file. */
  async run(job: Job, signal?: AbortSignal): Promise<Extracted> {
    if (this.#killedBy) throw this.#killedBy
    const { promise, resolve, reject } = Promise.withResolvers<Extracted>()
    const running: Running = { phase: 'reading', settled: promise.catch(() => undefined), resolve, reject }
    this.#running = running
    const abort = () => this.#giveUp(running, () => reject(signal?.reason))
    signal?.addEventListener('abort', abort, { once: true })
    this.#hold(true)
    try {
      this.#feed(job, running).catch(reject)
      return await promise
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#running = undefined
      if (this.isAlive) this.#hold(false)
    }
  }

  /** Ends the process; what it is reading rejects with `error`. */
  async kill(error?: Error): Promise<void> {
    this.isAlive = false
    this.#hold(true)
    this.#child.kill('SIGKILL')
    this.#killedBy = error
    if (error) this.#running?.reject(error)
    await this.#exited
  }

  async #feed(job: Job, running: Running): Promise<void> {
    const clock = this.#startClock(running)
    try {
      await this.#send({ kind: 'begin', name: job.name, limits: this.#limits })
      const source = job.read()[Symbol.asyncIterator]()
      const cut = await this.#feedBytes(source, job.mostBytes, running, clock)
      // It may wait for bytes that never come; nobody waits for it.
      void source.return?.().catch(() => undefined)
      if (this.#running !== running) return
      if (cut && job.whole)
        return running.resolve({ reason: `is larger than ${describeBytes(job.mostBytes)}` })
      running.phase = 'working'
      clock.refresh()
      await this.#send({ kind: 'end', cut })
      await running.settled
    } finally {
      clearTimeout(clock)
    }
  }

  // True if there are more bytes than are taken.
  async #feedBytes(
    source: AsyncIterator<Buffer>,
    most: number,
    running: Running,
    clock: NodeJS.Timeout,
  ): Promise<boolean> {
    let taken = 0
    while (this.#running === running) {
      const next = await Promise.race([source.next(), running.settled.then(() => undefined)])
      if (next === undefined || next.done) return false
      clock.refresh()
      const wanted = next.value.subarray(0, most - taken)
      for (let at = 0; at < wanted.length; at += messageBytes) {
        // Bytes of a file that is no longer wanted must not become part of the next.
        if (this.#running !== running) return false
        await this.#send({ kind: 'bytes', bytes: wanted.subarray(at, at + messageBytes) })
        clock.refresh()
      }
      taken += wanted.length
      if (wanted.length < next.value.length) return true
    }
    return false
  }

  #startClock(running: Running): NodeJS.Timeout {
    return setTimeout(() => {
      if (running.phase === 'working') {
        this.#giveUp(running, () => running.resolve({ reason: tookTooLong }))
      } else running.reject(new Error('The bytes of the file did not come in time.'))
    }, this.#limits.patienceMs)
  }

  // A worker that only takes in bytes forgets them when the next file begins; one that is at work does not listen.
  #giveUp(running: Running, answer: () => void): void {
    if (running.phase === 'working') void this.kill()
    answer()
  }

  #hear(message: FromWorker): void {
    if (message.kind === 'ready') {
      this.#isReady = true
      return
    }
    if (message.tired) void this.kill()
    this.#running?.resolve(message.extracted)
  }

  // Whatever ends a worker that has begun to work is in the file it works on.
  #end(code: number | null, signal: NodeJS.Signals | null): void {
    this.isAlive = false
    const running = this.#running
    if (running === undefined) return
    if (this.#isReady && running.phase === 'working') {
      running.resolve({ reason: reasonOfEnd(signal, this.#complaint) })
    } else {
      running.reject(
        new Error(`A text extraction worker ended (${signal ?? code}): ${this.#complaint.trim()}`),
      )
    }
  }

  #send(message: ToWorker): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#child.connected) return resolve() // its end is heard elsewhere
      this.#child.send(message, (error) => (error && this.isAlive ? reject(error) : resolve()))
    })
  }

  // Only a worker that reads keeps the server from ending.
  #hold(held: boolean): void {
    const method = held ? 'ref' : 'unref'
    this.#child[method]()
    this.#child.channel?.[method]()
    const stderr = this.#child.stderr as unknown as { ref?(): void; unref?(): void } | null
    stderr?.[method]?.()
  }
}

// It may read its own code and nothing else, start no process, and knows nothing of the server's environment.
function start(limits: Limits): ChildProcess {
  const readable = [import.meta.dirname, ...packageFolders()]
  const child = fork(path.join(import.meta.dirname, 'worker-main.ts'), [], {
    execArgv: [
      `--max-old-space-size=${Math.ceil(limits.heapBytes / 1024 ** 2)}`,
      '--permission',
      '--allow-worker',
      '--disable-warning=SecurityWarning',
      ...readable.flatMap((folder) => [
        `--allow-fs-read=${folder}`,
        `--allow-fs-read=${path.join(folder, '*')}`,
      ]),
    ],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  try {
    // People who wait for an answer come before files that wait for the index.
    if (child.pid !== undefined)
      setPriority(child.pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + 5))
  } catch {
    // It has ended already, or the system does not let us.
  }
  return child
}

// Where packages are looked for, and where they really are: the folder may be a link.
function packageFolders(): string[] {
  const folders = new Set<string>()
  for (const name of ['unpdf', 'fflate']) {
    const entry = fileURLToPath(import.meta.resolve(name))
    folders.add(entry.slice(0, entry.lastIndexOf(path.join('node_modules', name)) + 'node_modules'.length))
  }
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    folders.add(path.join(folder, 'node_modules'))
  }
  return [...folders]
}

// Ended by its watch; by V8, which aborts; or by a system that has no memory left.
function reasonOfEnd(signal: NodeJS.Signals | null, complaint: string): string {
  if (complaint.includes(lastWords.tooLong)) return tookTooLong
  const isTooLarge = signal === 'SIGKILL' || complaint.includes('heap out of memory')
  return isTooLarge ? 'needs too much memory to read' : 'makes its reader crash'
}

export function describeBytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`
}
