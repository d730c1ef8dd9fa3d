import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { parseOutsideJson } from '../../base/json.ts'
import {
  decodeMessage,
  EXIT_UNSEALED,
  FROM_WORKER,
  FrameReader,
  frameHeader,
  type JobEnd,
  type JobStart,
  killMessages,
  TO_WORKER,
  type WorkerLimits,
} from './runtime/index.ts'
import { noteStart, startSandboxed, type WorkerProgram } from './sandbox.ts'

/** One input for a worker. */
export interface WorkerJob<Task> {
  /** JSON. */
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

/** The kernel does not confine the worker after all. It read nothing of the input, and the next one is started without a filter. */
export class SealUnavailable extends Error {
  override readonly name = 'SealUnavailable'
}

/** A worker could not be started, or exited before it had all of the input. The input is not the cause. */
export class WorkerLost extends Error {
  override readonly name = 'WorkerLost'
}

/** A program, what it may use, and how its results are read. */
export interface WorkerSetup<Result> {
  readonly program: WorkerProgram
  readonly limits: WorkerLimits
  /** Checks a result, which a worker that a hostile input took over may have chosen. Undefined: it is none. */
  readonly parse: (result: unknown) => Result | undefined
}

interface Running<Result> {
  phase: 'reading' | 'working' | 'done'
  readonly settled: Promise<unknown>
  resolve(outcome: WorkerOutcome<Result>): void
  reject(error: unknown): void
}

/** Maximum bytes of input in one frame, so that an aborted job ends soon. */
const FRAME_BYTES = 256 * 1024
/** Maximum bytes of a result: a million characters, or a few images. */
const RESULT_BYTES = 16 * 2 ** 20
const RESULT_VALUES = 1000
/** Maximum bytes that a worker may write to stderr in a job. Decoders write a few warnings. */
const STDERR_BYTES = 2 ** 20

/**
 * A sandboxed process that does one job at a time. It is not a thread, because a thread that runs out of memory or crashes in
 * native code terminates the server. Everything it sends is taken for the words of an attacker: it is killed when that is not what
 * a worker sends.
 */
export class WorkerProcess<Task, Result> {
  readonly #setup: WorkerSetup<Result>
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #frames = new FrameReader(RESULT_BYTES)
  readonly #ready = Promise.withResolvers<void>()
  #running: Running<Result> | undefined
  #isReady = false
  #isKilled = false
  #isWriting = false
  /** A pipe broke, so it never had all of its input. */
  #isCutOff = false
  #stderr = ''
  #stderrBytes = 0
  #killedBy: Error | undefined
  isAlive = true

  constructor(setup: WorkerSetup<Result>) {
    this.#setup = setup
    this.#child = startSandboxed(setup.program, setup.limits)
    this.#ready.promise.catch(() => undefined)
    this.#exited = once(this.#child, 'close').catch(() => undefined)
    this.#child.on('error', (error) => {
      this.isAlive = false
      this.#running?.reject(new WorkerLost(`A ${setup.program.name} worker failed.`, { cause: error }))
    })
    this.#child.on('exit', () => {
      this.isAlive = false
    })
    this.#child.on('close', (code, signal) => this.#end(code, signal))
    // A pipe breaks when the process ends, which `close` reports.
    for (const stream of this.#child.stdio) stream?.on('error', () => undefined)
    this.#results?.on('data', (chunk: Buffer) => this.#onResults(chunk))
    this.#child.stderr?.on('data', (data: Buffer) => this.#onStderr(data))
  }

  get #results(): Readable | null {
    return this.#child.stdio[3] as Readable | null
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
    this.#stderrBytes = 0
    const abort = () => this.#giveUp(running, () => reject(signal?.reason))
    signal?.addEventListener('abort', abort, { once: true })
    this.#setRef(true)
    try {
      this.#feed(job, running).catch(reject)
      return await promise
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#running = undefined
    }
  }

  /** Without a job it does not keep the event loop of the server alive. */
  rest(): void {
    this.#setRef(false)
  }

  /** Kills the process. The running job rejects with `error`. */
  async kill(error?: Error): Promise<void> {
    this.isAlive = false
    this.#isKilled = true
    this.#setRef(true)
    this.#child.kill('SIGKILL')
    this.#killedBy = error
    if (error) this.#running?.reject(error)
    await this.#exited
  }

  async #feed(job: WorkerJob<Task>, running: Running<Result>): Promise<void> {
    const clock = this.#startClock(running)
    try {
      await Promise.race([this.#ready.promise, running.settled])
      if (this.#running !== running) return
      await this.#send(TO_WORKER.begin, {
        task: job.task,
        limits: this.#setup.limits,
      } satisfies JobStart<Task>)
      const source = job.read()[Symbol.asyncIterator]()
      const cut = await this.#feedBytes(source, job.maxBytes, running, clock)
      // Not awaited: the source may wait for bytes that never arrive.
      void source.return?.().catch(() => undefined)
      if (this.#running !== running) return
      if (cut && job.whole) return running.resolve({ failure: 'too-large' })
      running.phase = 'working'
      clock.refresh()
      await this.#send(TO_WORKER.end, { cut } satisfies JobEnd)
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
      for (let at = 0; at < wanted.length; at += FRAME_BYTES) {
        // Bytes of an aborted job must not become part of the next one.
        if (this.#running !== running) return false
        await this.#write(TO_WORKER.bytes, wanted.subarray(at, at + FRAME_BYTES))
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
        return
      }
      // A worker that does not start, or does not read what it gets, is of no use to the next job either.
      if (!this.#isReady || this.#isWriting) void this.kill()
      running.reject(new WorkerLost('The bytes of the file did not come in time.'))
    }, this.#setup.limits.timeoutMs)
  }

  // A worker that receives input discards it when the next job begins. One that is working reads nothing, so it is killed.
  #giveUp(running: Running<Result>, answer: () => void): void {
    if (running.phase === 'working') void this.kill()
    answer()
  }

  #onResults(chunk: Buffer): void {
    if (this.#isKilled) return
    const frames = this.#frames.push(chunk)
    const isExpected = frames?.every(({ kind, payload }) => this.#onFrame(kind, payload)) ?? false
    if (isExpected) return
    void this.kill()
    this.#running?.resolve({ failure: 'crashed' })
  }

  /** False if a worker that runs our code would not have sent it now. */
  #onFrame(kind: number, payload: Buffer): boolean {
    try {
      const message = decodeMessage(payload, (json) => parseOutsideJson(json, { values: RESULT_VALUES }))
      if (typeof message !== 'object' || message === null) return false
      if (kind === FROM_WORKER.ready && !this.#isReady) this.#onReady()
      else if (kind === FROM_WORKER.done) return this.#onDone(message)
      else return false
      return true
    } catch {
      return false
    }
  }

  #onReady(): void {
    this.#isReady = true
    noteStart(undefined)
    this.#ready.resolve()
  }

  #onDone(message: object): boolean {
    const running = this.#running
    if (running?.phase !== 'working' || !('result' in message)) return false
    const result = this.#setup.parse(message.result)
    if (result === undefined) return false
    // The worker has one result, also if it sends two at once.
    running.phase = 'done'
    if (!('recycle' in message && message.recycle === false)) void this.kill()
    running.resolve({ result })
    return true
  }

  #onStderr(data: Buffer): void {
    this.#stderr = (this.#stderr + data.toString()).slice(-4000)
    this.#stderrBytes += data.length
    if (this.#stderrBytes > STDERR_BYTES && !this.#isKilled) void this.kill()
  }

  // An exit before the work began was not caused by the input.
  #end(code: number | null, signal: NodeJS.Signals | null): void {
    this.isAlive = false
    if (!this.#isReady && code === EXIT_UNSEALED) {
      const problem = this.#stderr.trim()
      noteStart(problem)
      this.#ready.reject(new SealUnavailable(problem))
      return
    }
    const running = this.#running
    if (running === undefined) return
    const hadInput = running.phase === 'working' && !this.#isCutOff
    if (this.#isReady && hadInput && code !== EXIT_UNSEALED) {
      running.resolve({ failure: failureOfEnd(signal, this.#stderr) })
    } else {
      const what = `A ${this.#setup.program.name} worker ended (${signal ?? code}): ${this.#stderr.trim()}`
      running.reject(new WorkerLost(what))
    }
  }

  #send(kind: number, message: unknown): Promise<void> {
    return this.#write(kind, Buffer.from(JSON.stringify(message)))
  }

  async #write(kind: number, payload: Buffer): Promise<void> {
    const { stdin } = this.#child
    if (!stdin?.writable) {
      this.#isCutOff = true
      return
    }
    this.#isWriting = true
    stdin.write(frameHeader(kind, payload.length))
    await new Promise<void>((resolve) => {
      stdin.write(payload, (error) => {
        if (error) this.#isCutOff = true // `close` settles the job
        resolve()
      })
    })
    this.#isWriting = false
  }

  #setRef(held: boolean): void {
    const method = held ? 'ref' : 'unref'
    this.#child[method]()
    for (const stream of this.#child.stdio) {
      const pipe = stream as unknown as { ref?(): void; unref?(): void } | null
      pipe?.[method]?.()
    }
  }
}

// Killed by its watchdog, aborted by V8, or killed by something else.
function failureOfEnd(signal: NodeJS.Signals | null, stderr: string): WorkerFailure {
  if (stderr.includes(killMessages.tooLong)) return 'too-long'
  if (stderr.includes(killMessages.tooLarge) || /out of memory/i.test(stderr)) return 'too-much-memory'
  return signal === 'SIGKILL' ? 'killed' : 'crashed'
}
