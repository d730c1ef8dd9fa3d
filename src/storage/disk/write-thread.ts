import { Worker } from 'node:worker_threads'
import type { AbandonOrder, WriteOrder, WriteReply, WriteThreadData } from './write-worker.ts'

/** Bytes a slab holds. */
export const SLAB_BYTES = 512 * 1024
const SLABS = 6
const IDLE_MS = 30_000

interface OpenFile {
  /** Orders given and not yet answered. */
  pending: number
  error: Error | undefined
  settled: PromiseWithResolvers<string | undefined> | undefined
}

/**
 * Hashes and writes files on a thread of its own, so that long uploads neither hold up the event loop nor wait for
 * it. Bytes travel through a few slabs of shared memory; who brings more than fit, waits. The thread starts when
 * first needed and ends when it had nothing to do for a while.
 */
export class WriteThread {
  readonly #memory = new SharedArrayBuffer(SLABS * SLAB_BYTES)
  readonly #bytes = Buffer.from(this.#memory)
  readonly #freeSlabs = Array.from({ length: SLABS }, (_, slab) => slab)
  readonly #waiting: ((slab: number) => void)[] = []
  readonly #files = new Map<number, OpenFile>()
  #nextFile = 0
  #worker: Worker | undefined
  #idleTimer: NodeJS.Timeout | undefined

  /** How many files it has open. */
  get load(): number {
    return this.#files.size
  }

  begin(): number {
    clearTimeout(this.#idleTimer)
    this.#nextFile += 1
    this.#files.set(this.#nextFile, { pending: 0, error: undefined, settled: undefined })
    return this.#nextFile
  }

  /** Adds pieces to the end of a file. Resolves when they are copied; throws what an earlier one met. */
  async write(file: number, descriptor: number, pieces: readonly Uint8Array[]): Promise<void> {
    for (const part of slabParts(pieces)) await this.#send(file, descriptor, part, false)
  }

  /** Adds the last pieces and resolves to the SHA-1 of the file when all is written. The file is then done with. */
  async finish(file: number, descriptor: number, pieces: readonly Uint8Array[]): Promise<string> {
    const parts = slabParts(pieces)
    const last = parts.pop() ?? []
    for (const part of parts) await this.#send(file, descriptor, part, false)
    await this.#send(file, descriptor, last, true)
    const sha1 = await this.#settled(file)
    if (sha1 === undefined) throw new Error('a file was written without a hash')
    return sha1
  }

  /** Resolves when the thread has let go of the file's descriptor. The file is then done with. */
  async abandon(file: number): Promise<void> {
    if (!this.#files.has(file)) return
    await this.#settled(file).catch(() => {})
    const order: AbandonOrder = { abandon: file }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker?.postMessage(order)
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer)
    await this.#worker?.terminate()
  }

  async #send(
    file: number,
    descriptor: number,
    pieces: readonly Uint8Array[],
    isLast: boolean,
  ): Promise<void> {
    const open = this.#get(file)
    const slab =
      this.#freeSlabs.pop() ?? (await new Promise<number>((resolve) => this.#waiting.push(resolve)))
    if (open.error !== undefined) {
      this.#release(slab)
      throw open.error
    }
    let length = 0
    for (const piece of pieces) {
      this.#bytes.set(piece, slab * SLAB_BYTES + length)
      length += piece.length
    }
    open.pending += 1
    const order: WriteOrder = { file, descriptor, slab, length, isLast }
    const worker = (this.#worker ??= this.#start())
    worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(order)
  }

  /** Waits for the answers to all orders of a file, and forgets it. */
  async #settled(file: number): Promise<string | undefined> {
    const open = this.#get(file)
    try {
      if (open.pending > 0) {
        open.settled ??= Promise.withResolvers()
        return await open.settled.promise
      }
      if (open.error !== undefined) throw open.error
      return undefined
    } finally {
      this.#files.delete(file)
      if (this.#files.size === 0) this.#rest()
    }
  }

  #rest(): void {
    this.#worker?.unref()
    this.#idleTimer = setTimeout(() => {
      const worker = this.#worker
      this.#worker = undefined
      void worker?.terminate()
    }, IDLE_MS).unref()
  }

  #onReply({ file, slab, sha1, error }: WriteReply): void {
    this.#release(slab)
    const open = this.#files.get(file)
    if (open === undefined) return
    open.pending -= 1
    open.error ??= error
    if (open.pending > 0 || open.settled === undefined) return
    if (open.error !== undefined) open.settled.reject(open.error)
    else open.settled.resolve(sha1)
  }

  #release(slab: number): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#freeSlabs.push(slab)
    else next(slab)
  }

  #start(): Worker {
    const workerData: WriteThreadData = { slabs: this.#memory, slabBytes: SLAB_BYTES }
    const worker = new Worker(new URL('./write-worker.ts', import.meta.url), { workerData })
    worker.on('message', (reply: WriteReply) => this.#onReply(reply))
    worker.on('error', (error) => this.#onDeath(worker, error))
    worker.on('exit', (code) =>
      this.#onDeath(worker, new Error(`the writing thread ended with code ${code}`)),
    )
    return worker
  }

  /** Every file it had open is lost to whoever writes it. */
  #onDeath(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const open of this.#files.values()) {
      open.error ??= error
      open.pending = 0
      open.settled?.reject(error)
    }
    this.#freeSlabs.splice(0)
    for (let slab = 0; slab < SLABS; slab++) this.#release(slab)
  }

  #get(file: number): OpenFile {
    const open = this.#files.get(file)
    if (open === undefined) throw new Error('a file is written that was never begun')
    return open
  }
}

/** The pieces in parts that fit into a slab each; larger pieces are cut. */
function slabParts(pieces: readonly Uint8Array[]): Uint8Array[][] {
  const parts: Uint8Array[][] = []
  let part: Uint8Array[] = []
  let room = SLAB_BYTES
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.subarray(at, at + room)
      part.push(taken)
      at += taken.length
      room -= taken.length
      if (room > 0) continue
      parts.push(part)
      part = []
      room = SLAB_BYTES
    }
  }
  if (part.length > 0) parts.push(part)
  return parts
}
