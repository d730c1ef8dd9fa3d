import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type FromWorker, lastWords, type ToWorker, type WorkerLimits } from './runtime/index.ts'
import { startSandboxed, type WorkerProgram } from './sandbox.ts'

/** One input for a worker. */
export interface WorkerJob<Task> {
  readonly task: Task
  readonly read: () => AsyncIterable<Buffer>
  /** Bytes to take of it; `whole` if it is of no use when there are more. */
  readonly mostBytes: number
  readonly whole: boolean
}

/**
 * Why a job has no result: more bytes than are taken, a limit it exceeded, a process that crashed, or one that somebody else
 * killed, such as a system without memory. All but the last are most likely due to the input.
 */
export type WorkerFailure = 'too-large' | 'too-long' | 'too-much-memory' | 'crashed' | 'killed'

export type WorkerOutcome<Result> = { readonly result: Result } | { readonly failure: WorkerFailure }

/** A worker could not be started, or ended before it had all of the input. Says nothing about the input. */
export class WorkerLost extends Error {
  override readonly name = 'WorkerLost'
}

interface Running<Result> {
  phase: 'reading' | 'working'
  readonly settled: Promise<unknown>
  resolve(outcome: WorkerOutcome<Result>): void
  reject(error: unknown): void
}

/** What one message to a worker carries; copying more would hold up the event loop. */
const messageBytes = 256 * 1024

/**
 * A sandboxed process that does one job at a time. It is a process and not a thread because a thread that runs out of memory
 * takes the server with it, and so does one whose native code crashes.
 */
export class WorkerProcess<Task, Result> {
  readonly #program: WorkerProgram
  readonly #limits: WorkerLimits
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  #running: Running<Result> | undefined
  #isReady = false
  #complaint = ''
  #killedBy: Error | undefined
  isAlive = true

  constructor(program: WorkerProgram, limits: WorkerLimits) {
    this.#program = program
    this.#limits = limits
    this.#child = startSandboxed(program, limits)
    this.#exited = once(this.#child, 'close').catch(() => undefined)
    this.#child.on('message', (message: FromWorker<Result>) => this.#hear(message))
    this.#child.on('error', (error) => {
      this.isAlive = false
      this.#running?.reject(new WorkerLost(`A ${program.name} worker failed.`, { cause: error }))
    })
    this.#child.on('exit', () => {
      this.isAlive = false
    })
    this.#child.on('close', (code, signal) => this.#end(code, signal))
    this.#child.stderr?.on('data', (data: Buffer) => {
      this.#complaint = (this.#complaint + data.toString()).slice(-4000)
    })
  }

  /** Rejects with what `job.read` throws, the reason of the signal, or an error that is not about the input. */
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

  /** Ends the process; what it does rejects with `error`. */
  async kill(error?: Error): Promise<void> {
    this.isAlive = false
    this.#hold(true)
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
      const cut = await this.#feedBytes(source, job.mostBytes, running, clock)
      // It may wait for bytes that never come; nobody waits for it.
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

  // True if there are more bytes than are taken.
  async #feedBytes(
    source: AsyncIterator<Buffer>,
    most: number,
    running: Running<Result>,
    clock: NodeJS.Timeout,
  ): Promise<boolean> {
    let taken = 0
    while (this.#running === running) {
      const next = await Promise.race([source.next(), running.settled.then(() => undefined)])
      if (next === undefined || next.done) return false
      clock.refresh()
      const wanted = next.value.subarray(0, most - taken)
      for (let at = 0; at < wanted.length; at += messageBytes) {
        // Bytes of an input that is no longer wanted must not become part of the next.
        if (this.#running !== running) return false
        await this.#send({ kind: 'bytes', bytes: wanted.subarray(at, at + messageBytes) })
        clock.refresh()
      }
      taken += wanted.length
      if (wanted.length < next.value.length) return true
    }
    return false
  }

  #startClock(running: Running<Result>): NodeJS.Timeout {
    return setTimeout(() => {
      if (running.phase === 'working') {
        this.#giveUp(running, () => running.resolve({ failure: 'too-long' }))
      } else running.reject(new WorkerLost('The bytes of the file did not come in time.'))
    }, this.#limits.patienceMs)
  }

  // A worker that only takes in bytes drops them when the next job begins; one that is at work does not listen.
  #giveUp(running: Running<Result>, answer: () => void): void {
    if (running.phase === 'working') void this.kill()
    answer()
  }

  #hear(message: FromWorker<Result>): void {
    if (message.kind === 'ready') {
      this.#isReady = true
      return
    }
    if (message.tired) void this.kill()
    this.#running?.resolve({ result: message.result })
  }

  // What ends a worker before it has begun to work says nothing about the input.
  #end(code: number | null, signal: NodeJS.Signals | null): void {
    this.isAlive = false
    const running = this.#running
    if (running === undefined) return
    if (this.#isReady && running.phase === 'working') {
      running.resolve({ failure: failureOfEnd(signal, this.#complaint) })
    } else {
      const what = `A ${this.#program.name} worker ended (${signal ?? code}): ${this.#complaint.trim()}`
      running.reject(new WorkerLost(what))
    }
  }

  #send(message: ToWorker<Task>): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#child.connected) return resolve() // its end is heard elsewhere
      this.#child.send(message, (error) => {
        if (!error || !this.isAlive) return resolve()
        // The process is gone, although its exit was not seen yet: the job can be given to another.
        this.isAlive = false
        reject(new WorkerLost(`A ${this.#program.name} worker ended before its job began.`, { cause: error }))
      })
    })
  }

  // Only a worker that has a job keeps the server from ending.
  #hold(held: boolean): void {
    const method = held ? 'ref' : 'unref'
    this.#child[method]()
    this.#child.channel?.[method]()
    const stderr = this.#child.stderr as unknown as { ref?(): void; unref?(): void } | null
    stderr?.[method]?.()
  }
}

// Ended by its watch; by V8, which aborts; or by somebody else.
function failureOfEnd(signal: NodeJS.Signals | null, complaint: string): WorkerFailure {
  if (complaint.includes(lastWords.tooLong)) return 'too-long'
  if (complaint.includes(lastWords.tooLarge) || /out of memory/i.test(complaint)) return 'too-much-memory'
  return signal === 'SIGKILL' ? 'killed' : 'crashed'
}
