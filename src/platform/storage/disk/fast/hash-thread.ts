import type { FileHandle } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { writeAt } from './file-chunks.ts'
import type { AbandonRequest, HashReply, HashRequest } from './hash-worker.ts'
import type { SharedBuffer, SharedBufferPool } from './shared-buffer-pool.ts'

/** Buffers hashed and written at a time; further writes wait (backpressure). */
const MAX_IN_FLIGHT = 8
const IDLE_MS = 30_000

/** A file being written. */
interface OpenFile {
  readonly handle: FileHandle
  /** Offset of the next bytes. */
  position: number
  /** Hash requests and writes in progress. */
  pending: number
  error: Error | undefined
  sha1: string | undefined
  settled: PromiseWithResolvers<void> | undefined
}

/** A buffer that is being hashed or written. */
interface SentBuffer {
  readonly buffer: SharedBuffer
  readonly file: OpenFile
  uses: number
}

/**
 * Hashes files on a worker thread while the thread pool writes them, so that a long upload does not block the event loop. The thread starts
 * when first needed and ends after 30 idle seconds.
 */
export class HashThread {
  readonly #pool: SharedBufferPool
  readonly #files = new Map<number, OpenFile>()
  readonly #waiting: (() => void)[] = []
  /** Buffers whose hash request is unanswered, in the order sent. */
  #pending: SentBuffer[] = []
  /** Shared memories the thread knows. */
  #memories: SharedArrayBuffer[] = []
  #inFlight = 0
  #nextFile = 0
  #worker: Worker | undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor(pool: SharedBufferPool) {
    this.#pool = pool
  }

  /** Number of open files. */
  get load(): number {
    return this.#files.size
  }

  /** Returns the number that identifies the file in later calls. */
  begin(handle: FileHandle): number {
    clearTimeout(this.#idleTimer)
    this.#nextFile += 1
    const file = { handle, position: 0, pending: 0, error: undefined, sha1: undefined, settled: undefined }
    this.#files.set(this.#nextFile, file)
    return this.#nextFile
  }

  /**
   * Appends a buffer, full unless it is the last, and returns it to the pool afterwards. Resolves when the next one may be sent. Throws the
   * error of an earlier write; the buffer is returned in that case too.
   */
  async write(number: number, buffer: SharedBuffer, length: number, isLast = false): Promise<void> {
    const file = this.#get(number)
    if (this.#inFlight >= MAX_IN_FLIGHT) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#inFlight += 1
    const sent = { buffer, file, uses: 1 }
    file.pending += 1
    if (file.error !== undefined) {
      this.#done(sent)
      throw file.error
    }
    this.#hash(number, sent, length, isLast)
    void this.#store(sent, length)
  }

  /** Appends the last bytes and resolves to the SHA-1 once everything is written. Ends the file. */
  async finish(number: number, buffer: SharedBuffer, length: number): Promise<string> {
    await this.write(number, buffer, length, true)
    const { sha1 } = await this.#settled(number)
    if (sha1 === undefined) throw new Error('a file was written without a hash')
    return sha1
  }

  /** Resolves when no work on the file is in progress. Ends the file. */
  async abandon(number: number): Promise<void> {
    if (!this.#files.has(number)) return
    await this.#settled(number).catch(() => {})
    const request: AbandonRequest = { abandon: number }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker?.postMessage(request)
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer)
    await this.#worker?.terminate()
  }

  #hash(file: number, sent: SentBuffer, length: number, isLast: boolean): void {
    const worker = (this.#worker ??= this.#start())
    const { memory: shared, offset } = sent.buffer
    let memory = this.#memories.indexOf(shared)
    const isNew = memory < 0
    if (isNew) memory = this.#memories.push(shared) - 1
    const request: HashRequest = { file, memory, offset, length, isLast, ...(isNew && { shared }) }
    sent.uses += 1
    sent.file.pending += 1
    this.#pending.push(sent)
    worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(request)
  }

  /** Writes a buffer at the end of its file. */
  async #store(sent: SentBuffer, length: number): Promise<void> {
    const { file, buffer } = sent
    const { position } = file
    file.position += length
    try {
      await writeAt(file.handle, buffer.bytes.subarray(0, length), position)
    } catch (error) {
      file.error ??= error instanceof Error ? error : new Error(String(error))
    }
    this.#done(sent)
  }

  #onReply({ sha1 }: HashReply): void {
    const sent = this.#pending.shift()
    if (sent === undefined) return
    sent.file.sha1 = sha1
    this.#done(sent)
  }

  #done(sent: SentBuffer): void {
    const { file, buffer } = sent
    sent.uses -= 1
    if (sent.uses === 0) {
      this.#pool.return(buffer)
      this.#inFlight -= 1
      this.#waiting.shift()?.()
    }
    file.pending -= 1
    if (file.pending === 0) file.settled?.resolve()
  }

  /** Waits until no work on a file is in progress, and removes it. */
  async #settled(number: number): Promise<OpenFile> {
    const file = this.#get(number)
    if (file.pending > 0) {
      file.settled ??= Promise.withResolvers()
      await file.settled.promise
    }
    this.#files.delete(number)
    if (this.#files.size === 0) this.#endWhenIdle()
    if (file.error !== undefined) throw file.error
    return file
  }

  #endWhenIdle(): void {
    this.#worker?.unref()
    this.#idleTimer = setTimeout(() => {
      const worker = this.#worker
      this.#worker = undefined
      this.#pool.clear()
      void worker?.terminate()
    }, IDLE_MS).unref()
  }

  #start(): Worker {
    this.#memories = []
    const worker = new Worker(new URL('./hash-worker.ts', import.meta.url))
    worker.on('message', (reply: HashReply) => {
      if (this.#worker === worker) this.#onReply(reply)
    })
    worker.on('error', (error) => this.#onDeath(worker, error))
    worker.on('exit', (code) =>
      this.#onDeath(worker, new Error(`the hashing thread ended with code ${code}`)),
    )
    return worker
  }

  /** The hash states of all open files are lost. */
  #onDeath(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const file of this.#files.values()) file.error ??= error
    // Later requests go to a new thread.
    const lost = this.#pending
    this.#pending = []
    for (const sent of lost) this.#done(sent)
  }

  #get(number: number): OpenFile {
    const file = this.#files.get(number)
    if (file === undefined) throw new Error('write to a file that was not begun')
    return file
  }
}
