import { Connection } from './connection.ts'
import { type Failure, reactionTo } from './failures.ts'
import { type Clock, type Network, pause } from './network.ts'
import type { Upload, UploadQueue, Work } from './queue.ts'
import { RateMeter, secondsLeft } from './rate.ts'
import { readingFailure } from './sources.ts'
import { makeFolders, sendChunks, sendFiles, type TransferOptions } from './transfer.ts'

/** Browsers open six connections per server. Live events take one, and page loads need some. */
const MAX_AT_ONCE = 4
const MAX_BIG_AT_ONCE = 3
const MAX_TRIES = 6
const LATER_MS = [1000, 2000, 4000, 8000, 16_000]
/** Cost of a file besides its bytes in the estimate of the time left. */
const WORK_PER_FILE = 20_000

interface Run {
  readonly work: Work
  readonly stopping: AbortController
  /** All bytes were sent, so the request can no longer be undone. */
  isSent: boolean
}

interface RunnerOptions {
  readonly queue: UploadQueue
  readonly network: Network
  readonly clock: Clock
  /** Email of the account; empty while nobody is signed in. */
  readonly account: () => string
  readonly fileOf: TransferOptions['fileOf']
  readonly namesBeside: TransferOptions['namesBeside']
  /** Resolves once a later page would know where each upload goes. */
  readonly settled: () => Promise<void>
  readonly onChange: () => void
  /** Called when an upload is stored and its source can be released. */
  readonly onStored: (upload: Upload) => void
}

/** Sends the uploads of a queue with several parallel requests, and handles failures. */
export class Runner {
  readonly connection: Connection
  readonly #options: RunnerOptions
  readonly #queue: UploadQueue
  readonly #runs = new Set<Run>()
  /** The current request of an upload. Events of an aborted request are ignored. */
  readonly #runOf = new WeakMap<Upload, Run>()
  readonly #bytes = new RateMeter()
  readonly #work = new RateMeter()

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#queue = options.queue
    const { network, clock } = options
    this.connection = new Connection(network, clock, (isCut) => this.#onConnection(isCut))
    // While offline no response will arrive.
    network.onOnline((isOnline) => {
      if (!isOnline) this.#giveUp()
    })
  }

  get bytesPerSecond(): number {
    return this.#bytes.perSecond(this.#options.clock.now())
  }

  get secondsLeft(): number | undefined {
    const { work, workDone } = this.#queue.totals
    return secondsLeft(work - workDone, this.#work.perSecond(this.#options.clock.now()))
  }

  /** Starts requests up to the limit. */
  pump(): void {
    this.#options.onChange()
    while (!this.connection.isCut && this.#options.account() !== '' && this.#runs.size < MAX_AT_ONCE) {
      const big = [...this.#runs].filter(({ work }) => work.kind === 'chunks').length
      const work = this.#queue.take({ mayBeBig: big < MAX_BIG_AT_ONCE })
      if (work === undefined) return
      const run: Run = { work, stopping: new AbortController(), isSent: false }
      this.#runs.add(run)
      for (const upload of work.uploads) this.#runOf.set(upload, run)
      void this.#run(run)
    }
  }

  /** Applies an action to uploads and aborts their requests. Other uploads of those requests are sent again. */
  stop(uploads: Iterable<Upload>, act: (upload: Upload) => void): void {
    const stopped = new Set<Run>()
    for (const upload of uploads) {
      const run = upload.state === 'sending' ? this.#runOf.get(upload) : undefined
      if (run?.isSent) continue
      act(upload)
      if (run !== undefined) stopped.add(run)
    }
    for (const run of stopped) run.stopping.abort()
    this.pump()
  }

  /** Aborts all requests. */
  abort(): void {
    for (const { stopping } of this.#runs) stopping.abort()
  }

  async #run(run: Run): Promise<void> {
    const { kind, uploads } = run.work
    const options = this.#optionsOf(run)
    try {
      await this.#options.settled()
      if (kind === 'folders') await makeFolders(uploads, options)
      else if (kind === 'chunks') await sendChunks(uploads[0], options)
      else await sendFiles(uploads, options)
    } catch (error) {
      await this.#onError(run, error)
    }
    this.#runs.delete(run)
    this.pump()
  }

  #optionsOf(run: Run): TransferOptions {
    return {
      network: this.#options.network,
      signal: run.stopping.signal,
      account: this.#options.account(),
      fileOf: this.#options.fileOf,
      namesBeside: this.#options.namesBeside,
      bytesPerSecond: () => this.bytesPerSecond / Math.max(1, this.#runs.size),
      onResume: (upload, stored) => this.#queue.progress(upload, stored),
      onProgress: (upload, sent) => {
        const more = Math.max(0, Math.min(sent, upload.size) - upload.sent)
        this.#queue.progress(upload, sent)
        this.#measure(more, more)
      },
      onSent: () => {
        run.isSent = true
      },
      onBegun: (upload) => this.#queue.begin(upload),
      onLost: (upload) => this.#queue.lose(upload),
      onStored: (upload, name = upload.name) => {
        this.#queue.done(upload, name)
        this.#measure(0, WORK_PER_FILE)
        this.#options.onStored(upload)
      },
    }
  }

  async #onError(run: Run, error: unknown): Promise<void> {
    const { work, stopping, isSent } = run
    const open = () =>
      work.uploads.filter((upload) => upload.state === 'sending' && this.#runOf.get(upload) === run)
    const verdict = reactionTo(error)
    const message = error instanceof Error ? error.message : ''
    if (stopping.signal.aborted) {
      for (const upload of open()) this.#putBack(upload, { isUnsure: isSent })
    } else if (verdict === 'cut') await this.#onCut(open())
    else if (verdict === 'later') {
      const tries = Math.max(...work.uploads.map((upload) => upload.tries))
      await pause(this.#options.clock, LATER_MS[Math.min(tries, LATER_MS.length - 1)] ?? 0)
      this.#again(open(), { kind: 'refused', message })
    } else if (verdict === 'link' || verdict === 'range') {
      for (const { libraryId, target } of open()) this.#options.network.renew(libraryId, target)
      this.#again(open(), { kind: verdict === 'link' ? 'permission' : 'refused', message: '' })
    } else this.#refuse(open(), verdict)
  }

  /** No response: either a file became unreadable, or the server is unreachable. */
  async #onCut(uploads: readonly Upload[]): Promise<void> {
    const failures = await Promise.all(
      uploads.map(async (upload) => {
        const file = await this.#options.fileOf(upload)
        return file && readingFailure(file)
      }),
    )
    const readable: Upload[] = []
    for (const [index, upload] of uploads.entries()) {
      const failure = failures[index]
      if (failure === undefined) readable.push(upload)
      else this.#fail(upload, failure)
    }
    for (const upload of readable) upload.isUnsure = true
    if (readable.length === uploads.length) this.connection.cut()
    this.#again(readable, { kind: 'unreachable', message: '' })
  }

  #again(uploads: readonly Upload[], failure: Failure): void {
    for (const upload of uploads) {
      if (upload.state !== 'sending') continue
      upload.tries += 1
      if (upload.tries > MAX_TRIES) this.#fail(upload, failure)
      else this.#putBack(upload, { isUnsure: upload.isUnsure })
    }
  }

  #refuse(uploads: readonly Upload[], failure: Failure): void {
    // One file of a batch may be the cause, so each is sent alone.
    const isOfOne = ['quota', 'too-large', 'name', 'refused'].includes(failure.kind)
    if (uploads.length > 1 && (isOfOne || uploads[0]?.replace)) {
      for (const upload of uploads) {
        upload.isAlone = true
        this.#putBack(upload, { isUnsure: false })
      }
      return
    }
    for (const upload of uploads) {
      this.#fail(upload, failure)
      // A locked file cannot be replaced; other files are not affected.
      const isItsOwn = upload.replace && failure.kind === 'permission'
      if (!isItsOwn) this.#queue.failLike(upload, failure)
    }
  }

  #fail(upload: Upload, failure: Failure): void {
    this.#queue.fail(upload, failure)
  }

  #putBack(upload: Upload, { isUnsure }: { isUnsure: boolean }): void {
    upload.isUnsure ||= isUnsure
    this.#queue.putBack(upload)
  }

  #onConnection(isCut: boolean): void {
    this.#bytes.reset()
    this.#work.reset()
    if (isCut) this.#options.onChange()
    else this.pump()
  }

  #giveUp(): void {
    for (const { work, stopping } of this.#runs) {
      for (const upload of work.uploads) upload.isUnsure = true
      stopping.abort()
    }
  }

  #measure(bytes: number, work: number): void {
    const now = this.#options.clock.now()
    this.#bytes.add(now, bytes)
    this.#work.add(now, work)
    this.#options.onChange()
  }
}
