import { Worker } from 'node:worker_threads'
import type { AbandonOrder, HashOrder, HashReply } from './hash-worker.ts'
import type { SlabFile } from './slab-file.ts'
import type { Slab, Slabs } from './slabs.ts'

/** Slabs being hashed and written at a time; who brings more, waits. */
const MOST_UNDER_WAY = 8
const IDLE_MS = 30_000

/** A file on its way to the disk. */
interface OpenFile {
  readonly target: SlabFile
  /** Where the next bytes go. */
  position: number
  /** What was begun and has not ended: slabs to be hashed, and to be written. */
  pending: number
  error: Error | undefined
  sha1: string | undefined
  settled: PromiseWithResolvers<void> | undefined
}

/** A slab the thread has not answered for, or that is not written. */
interface SentSlab {
  readonly slab: Slab
  readonly file: OpenFile
  uses: number
}

/**
 * Hashes files on a thread of its own while they are written, so that a long upload neither holds up the event loop nor
 * waits for it. The thread starts when first needed and ends when it had nothing to do for a while.
 */
export class HashThread {
  readonly #slabs: Slabs
  readonly #files = new Map<number, OpenFile>()
  readonly #waiting: (() => void)[] = []
  /** Those the thread has not answered for, in the order they were sent. */
  #asked: SentSlab[] = []
  /** Memories the thread was told of. */
  #memories: SharedArrayBuffer[] = []
  #underWay = 0
  #nextFile = 0
  #worker: Worker | undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor(slabs: Slabs) {
    this.#slabs = slabs
  }

  /** How many files it has open. */
  get load(): number {
    return this.#files.size
  }

  /** The number of a file in the calls that follow. */
  begin(target: SlabFile): number {
    clearTimeout(this.#idleTimer)
    this.#nextFile += 1
    const file = { target, position: 0, pending: 0, error: undefined, sha1: undefined, settled: undefined }
    this.#files.set(this.#nextFile, file)
    return this.#nextFile
  }

  /**
   * Adds a slab, full unless it is the last, to the end of a file, and gives it back when it is done with. Resolves when
   * there is room for the next. Throws what an earlier one met; then it is given back too.
   */
  async write(number: number, slab: Slab, length: number, isLast = false): Promise<void> {
    const file = this.#get(number)
    if (this.#underWay >= MOST_UNDER_WAY) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#underWay += 1
    const sent = { slab, file, uses: 1 }
    file.pending += 1
    if (file.error !== undefined) {
      this.#used(sent)
      throw file.error
    }
    this.#ask(number, sent, length, isLast)
    void this.#store(sent, length)
  }

  /** Adds the last bytes and resolves to the SHA-1 of the file when all is written. The file is then done with. */
  async finish(number: number, slab: Slab, length: number): Promise<string> {
    await this.write(number, slab, length, true)
    const { sha1 } = await this.#settled(number)
    if (sha1 === undefined) throw new Error('a file was written without a hash')
    return sha1
  }

  /** Resolves when nobody uses the file any more. It is then done with. */
  async abandon(number: number): Promise<void> {
    if (!this.#files.has(number)) return
    await this.#settled(number).catch(() => {})
    const order: AbandonOrder = { abandon: number }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker?.postMessage(order)
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer)
    await this.#worker?.terminate()
  }

  #ask(file: number, sent: SentSlab, length: number, isLast: boolean): void {
    const worker = (this.#worker ??= this.#start())
    const { memory: shared, offset } = sent.slab
    let memory = this.#memories.indexOf(shared)
    const isNew = memory < 0
    if (isNew) memory = this.#memories.push(shared) - 1
    const order: HashOrder = { file, memory, offset, length, isLast, ...(isNew && { shared }) }
    sent.uses += 1
    sent.file.pending += 1
    this.#asked.push(sent)
    worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(order)
  }

  /** Writes a slab to where its bytes belong. */
  async #store(sent: SentSlab, length: number): Promise<void> {
    const { file, slab } = sent
    const { position } = file
    file.position += length
    try {
      await file.target.write(slab.bytes.subarray(0, length), position)
    } catch (error) {
      file.error ??= error instanceof Error ? error : new Error(String(error))
    }
    this.#used(sent)
  }

  #onReply({ sha1 }: HashReply): void {
    const sent = this.#asked.shift()
    if (sent === undefined) return
    sent.file.sha1 = sha1
    this.#used(sent)
  }

  #used(sent: SentSlab): void {
    const { file, slab } = sent
    sent.uses -= 1
    if (sent.uses === 0) {
      this.#slabs.give(slab)
      this.#underWay -= 1
      this.#waiting.shift()?.()
    }
    file.pending -= 1
    if (file.pending === 0) file.settled?.resolve()
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

  #rest(): void {
    this.#worker?.unref()
    this.#idleTimer = setTimeout(() => {
      const worker = this.#worker
      this.#worker = undefined
      this.#slabs.clear()
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

  /** The hashes of all files under way are lost. */
  #onDeath(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const file of this.#files.values()) file.error ??= error
    // Those asked for meanwhile are asked of another thread.
    const lost = this.#asked
    this.#asked = []
    for (const sent of lost) this.#used(sent)
  }

  #get(number: number): OpenFile {
    const file = this.#files.get(number)
    if (file === undefined) throw new Error('a file is written that was never begun')
    return file
  }
}
