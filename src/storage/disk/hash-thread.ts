import { Worker } from 'node:worker_threads'
import type { AbandonOrder, HashOrder, HashReply, HashThreadData } from './hash-worker.ts'
import { alignedMemory, type SlabFile } from './slab-file.ts'

/** Bytes a slab holds. */
export const SLAB_BYTES = 512 * 1024
const SLABS = 8
const IDLE_MS = 30_000

/** A file on its way to the disk. */
interface OpenFile {
  readonly slabs: SlabFile
  /** Where the next bytes go. */
  position: number
  /** What was begun and has not ended: slabs to be hashed, and to be written. */
  pending: number
  error: Error | undefined
  sha1: string | undefined
  settled: PromiseWithResolvers<void> | undefined
}

/**
 * Hashes files on a thread of its own while they are written, so that a long upload neither holds up the event loop nor
 * waits for it. Bytes travel through a few slabs of shared memory; who brings more than fit, waits. The thread
 * starts when first needed and ends when it had nothing to do for a while.
 */
export class HashThread {
  readonly #memory = alignedMemory(SLABS * SLAB_BYTES)
  readonly #bytes = Buffer.from(this.#memory)
  readonly #freeSlabs = Array.from({ length: SLABS }, (_, slab) => slab)
  /** How many still use a slab. */
  readonly #uses = new Uint8Array(SLABS)
  readonly #waiting: ((slab: number) => void)[] = []
  readonly #files = new Map<number, OpenFile>()
  /** Slabs the thread has not answered for, and whose they are. */
  readonly #asked = new Map<number, OpenFile>()
  #nextFile = 0
  #worker: Worker | undefined
  #idleTimer: NodeJS.Timeout | undefined

  /** How many files it has open. */
  get load(): number {
    return this.#files.size
  }

  /** The number of a file in the calls that follow. */
  begin(slabs: SlabFile): number {
    clearTimeout(this.#idleTimer)
    this.#nextFile += 1
    const file = { slabs, position: 0, pending: 0, error: undefined, sha1: undefined, settled: undefined }
    this.#files.set(this.#nextFile, file)
    return this.#nextFile
  }

  /** Adds pieces that fill a slab to the end of a file. Resolves when they are copied; throws what an earlier one met. */
  write(file: number, pieces: readonly Uint8Array[]): Promise<void> {
    return this.#send(file, pieces, false)
  }

  /**
   * Adds the last pieces, no more than a slab of them, and resolves to the SHA-1 of the file when all is written. The
   * file is then done with.
   */
  async finish(file: number, pieces: readonly Uint8Array[]): Promise<string> {
    await this.#send(file, pieces, true)
    const { sha1 } = await this.#settled(file)
    if (sha1 === undefined) throw new Error('a file was written without a hash')
    return sha1
  }

  /** Resolves when nobody uses the file any more. It is then done with. */
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

  async #send(number: number, pieces: readonly Uint8Array[], isLast: boolean): Promise<void> {
    const file = this.#get(number)
    const slab =
      this.#freeSlabs.pop() ?? (await new Promise<number>((resolve) => this.#waiting.push(resolve)))
    if (file.error !== undefined) {
      this.#release(slab)
      throw file.error
    }
    const start = slab * SLAB_BYTES
    let length = 0
    for (const piece of pieces) {
      // V8 copies into shared memory byte by byte unless both ends are aligned; `fill` does it at full speed.
      if (piece.length > 0) this.#bytes.fill(piece, start + length, start + length + piece.length)
      length += piece.length
    }
    this.#uses[slab] = 2
    this.#asked.set(slab, file)
    file.pending += 2
    const order: HashOrder = { file: number, slab, length, isLast }
    const worker = (this.#worker ??= this.#start())
    worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(order)
    void this.#store(file, slab, this.#bytes.subarray(start, start + length))
  }

  /** Writes a slab to where its bytes belong. */
  async #store(file: OpenFile, slab: number, bytes: Buffer): Promise<void> {
    const { position } = file
    file.position += bytes.length
    try {
      await file.slabs.write(bytes, position)
    } catch (error) {
      file.error ??= error instanceof Error ? error : new Error(String(error))
    }
    this.#used(slab)
    this.#ended(file)
  }

  #onReply({ slab, sha1 }: HashReply): void {
    const file = this.#asked.get(slab)
    if (file === undefined) return
    this.#asked.delete(slab)
    file.sha1 = sha1
    this.#used(slab)
    this.#ended(file)
  }

  /** Waits until nothing of a file is under way, and forgets it. */
  async #settled(number: number): Promise<OpenFile> {
    const file = this.#get(number)
    if (file.pending > 0) {
      file.settled ??= Promise.withResolvers()
      await file.settled.promise
    }
    this.#files.delete(number)
    if (this.#files.size === 0) this.#rest()
    if (file.error !== undefined) throw file.error
    return file
  }

  #ended(file: OpenFile): void {
    file.pending -= 1
    if (file.pending === 0) file.settled?.resolve()
  }

  #used(slab: number): void {
    const uses = (this.#uses[slab] ?? 1) - 1
    this.#uses[slab] = uses
    if (uses === 0) this.#release(slab)
  }

  #release(slab: number): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#freeSlabs.push(slab)
    else next(slab)
  }

  #rest(): void {
    this.#worker?.unref()
    this.#idleTimer = setTimeout(() => {
      const worker = this.#worker
      this.#worker = undefined
      void worker?.terminate()
    }, IDLE_MS).unref()
  }

  #start(): Worker {
    const workerData: HashThreadData = { slabs: this.#memory, slabBytes: SLAB_BYTES }
    const worker = new Worker(new URL('./hash-worker.ts', import.meta.url), { workerData })
    worker.on('message', (reply: HashReply) => this.#onReply(reply))
    worker.on('error', (error) => this.#onDeath(worker, error))
    worker.on('exit', (code) =>
      this.#onDeath(worker, new Error(`the hashing thread ended with code ${code}`)),
    )
    return worker
  }

  /** The hashes of all files under way are lost. */
  #onDeath(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const file of this.#files.values()) file.error ??= error
    // Those asked for meanwhile are asked of another thread.
    const lost = [...this.#asked.keys()]
    for (const slab of lost) this.#onReply({ slab })
  }

  #get(number: number): OpenFile {
    const file = this.#files.get(number)
    if (file === undefined) throw new Error('a file is written that was never begun')
    return file
  }
}
