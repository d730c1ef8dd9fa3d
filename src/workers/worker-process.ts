import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type FromWorker, killMessages, type ToWorker, type WorkerLimits } from './runtime/index.ts'
import { startSandboxed, type WorkerProgram } from './sandbox.ts'

/** One input for a worker. */
export interface WorkerJob<Task> {
  readonly task: Task
  readonly read: () => AsyncIterable<Buffer>
  /** Maximum number of bytes to read. `whole`: fail on a longer input instead of truncating it. */
  readonly maxBytes: number
  readonly whole: boolean
}

/**
 * Why a job has no result: the input is too large, a limit was exceeded, the process crashed, or something else killed it,
 * such as the OOM killer. All but the last are most likely caused by the input.
 */
export type WorkerFailure = 'too-large' | 'too-long' | 'too-much-memory' | 'crashed' | 'killed'

export type WorkerOutcome<Result> = { readonly result: Result } | { readonly failure: WorkerFailure }

/** A worker could not be started, or exited before it had all of the input. The input is not the cause. */
export class WorkerLost extends Error {
  override readonly name = 'WorkerLost'
}

interface Running<Result> {
  phase: 'reading' | 'working'
  readonly settled: Promise<unknown>
  resolve(outcome: WorkerOutcome<Result>): void
  reject(error: unknown): void
}

/** Maximum bytes of one IPC message. Copying more would block the event loop. */
const MESSAGE_BYTES = 256 * 1024

/**
 * A sandboxed process that does one job at a time. It is not a thread, because a thread that runs out of memory or crashes in
 * native code terminates the server.
 */
export class WorkerProcess<Task, Result> {
  readonly #program: WorkerProgram
  readonly #limits: WorkerLimits
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  #running: Running<Result> | undefined
  #isReady = false
  #stderr = ''
  #killedBy: Error | undefined
  isAlive = true

  constructor(program: WorkerProgram, limits: WorkerLimits) {
    this.#program = program
    this.#limits = limits
    this.#child = startSandboxed(program, limits)
    this.#exited = once(this.#child, 'close').catch(() => undefined)
    this.#child.on('message', (message: FromWorker<Result>) => this.#onMessage(message))
    this.#child.on('error', (error) => {
      this.isAlive = false
      this.#running?.reject(new WorkerLost(`A ${program.name} worker failed.`, { cause: error }))
    })
    this.#child.on('exit', () => {
      this.isAlive = false
    })
    this.#child.on('close', (code, signal) => this.#end(code, signal))
    this.#child.stderr?.on('data', (data: Buffer) => {
      this.#stderr = (this.#stderr + data.toString()).slice(-4000)
    })
  }

  /** Rejects with an error of `job.read`, the reason of the signal, or an error that the input did not cause. */
  async run(job: WorkerJob<Task>, signal?: AbortSignal): Promise<WorkerOutcome<Result>> {
    if (this.#killedBy) throw this.#killedBy
    const { promise, resolve, reject } = Promise.withResolvers<WorkerOutcome<Result>>()
    const running: Running<Result> = {
      phase: 'reading',
      settled: promise.catch(() => undefined),
      resolve,
      reject,
    }
    this.#running = running
    const abort = () => this.#giveUp(running, () => reject(signal?.reason))
    signal?.addEventListener('abort', abort, { once: true })
    this.#setRef(true)
    try {
      this.#feed(job, running).catch(reject)
      return await promise
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#running = undefined
      if (this.isAlive) this.#setRef(false)
    }
  }

  /** Kills the process. The running job rejects with `error`. */
  async kill(error?: Error): Promise<void> {
    this.isAlive = false
    this.#setRef(true)
    this.#child.kill('SIGKILL')
    this.#killedBy = error
    if (error) this.#running?.reject(error)
    await this.#exited
  }

  async #feed(job: WorkerJob<Task>, running: Running<Result>): Promise<void> {
    const clock = this.#startClock(running)
    try {
      await this.#send({ kind: 'begin', task: job.task, limits: this.#limits })
      const source = job.read()[Symbol.asyncIterator]()
      const cut = await this.#feedBytes(source, job.maxBytes, running, clock)
      // Not awaited: the source may wait for bytes that never arrive.
      void source.return?.().catch(() => undefined)
      if (this.#running !== running) return
      if (cut && job.whole) return running.resolve({ failure: 'too-large' })
      running.phase = 'working'
      clock.refresh()
      await this.#send({ kind: 'end', cut })
      await running.settled
    } finally {
      clearTimeout(clock)
    }
  }

  // True if the input is longer than `max`.
  async #feedBytes(
    source: AsyncIterator<Buffer>,
    max: number,
    running: Running<Result>,
    clock: NodeJS.Timeout,
  ): Promise<boolean> {
    let sent = 0
    while (this.#running === running) {
      const next = await Promise.race([source.next(), running.settled.then(() => undefined)])
      if (next === undefined || next.done) return false
      clock.refresh()
      const wanted = next.value.subarray(0, max - sent)
      for (let at = 0; at < wanted.length; at += MESSAGE_BYTES) {
        // Bytes of an aborted job must not become part of the next one.
        if (this.#running !== running) return false
        await this.#send({ kind: 'bytes', bytes: wanted.subarray(at, at + MESSAGE_BYTES) })
        clock.refresh()
      }
      sent += wanted.length
      if (wanted.length < next.value.length) return true
    }
    return false
  }

  #startClock(running: Running<Result>): NodeJS.Timeout {
    return setTimeout(() => {
      if (running.phase === 'working') {
        this.#giveUp(running, () => running.resolve({ failure: 'too-long' }))
      } else running.reject(new WorkerLost('The bytes of the file did not come in time.'))
    }, this.#limits.timeoutMs)
  }

  // A worker that receives input discards it when the next job begins. One that is working handles no messages, so it is killed.
  #giveUp(running: Running<Result>, answer: () => void): void {
    if (running.phase === 'working') void this.kill()
    answer()
  }

  #onMessage(message: FromWorker<Result>): void {
    if (message.kind === 'ready') {
      this.#isReady = true
      return
    }
    if (message.recycle) void this.kill()
    this.#running?.resolve({ result: message.result })
  }

  // An exit before the work began was not caused by the input.
  #end(code: number | null, signal: NodeJS.Signals | null): void {
    this.isAlive = false
    const running = this.#running
    if (running === undefined) return
    if (this.#isReady && running.phase === 'working') {
      running.resolve({ failure: failureOfEnd(signal, this.#stderr) })
    } else {
      const what = `A ${this.#program.name} worker ended (${signal ?? code}): ${this.#stderr.trim()}`
      running.reject(new WorkerLost(what))
    }
  }

  #send(message: ToWorker<Task>): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#child.connected) return resolve() // the `close` event settles the job
      this.#child.send(message, (error) => {
        if (!error || !this.isAlive) return resolve()
        // The process is gone, although no exit event arrived yet. Another worker can take the job.
        this.isAlive = false
        reject(new WorkerLost(`A ${this.#program.name} worker ended before its job began.`, { cause: error }))
      })
    })
  }

  // Only a worker with a job keeps the event loop of the server alive.
  #setRef(held: boolean): void {
    const method = held ? 'ref' : 'unref'
    this.#child[method]()
    this.#child.channel?.[method]()
    const stderr = this.#child.stderr as unknown as { ref?(): void; unref?(): void } | null
    stderr?.[method]?.()
  }
}

// Killed by its watchdog, aborted by V8, or killed by something else.
function failureOfEnd(signal: NodeJS.Signals | null, stderr: string): WorkerFailure {
  if (stderr.includes(killMessages.tooLong)) return 'too-long'
  if (stderr.includes(killMessages.tooLarge) || /out of memory/i.test(stderr)) return 'too-much-memory'
  return signal === 'SIGKILL' ? 'killed' : 'crashed'
}
