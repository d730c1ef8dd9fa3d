import { ApiError } from '../api/http.ts'
import { onSessionChange, token } from '../session/token.ts'
import type { Answer } from './conflicts.ts'
import { Connection } from './connection.ts'
import { type Failure, verdictOf } from './failures.ts'
import { Keeper } from './keeper.ts'
import { claim } from './keeping.ts'
import { forgetLink, forgetLinks } from './links.ts'
import { failedUploads, preparedUploads, type Question } from './preparing.ts'
import { type Upload, UploadQueue, type Work } from './queue.ts'
import { RateMeter, secondsLeft } from './rate.ts'
import { isSame, readingFailure, reopened, type Source } from './sources.ts'
import { makeFolders, sendChunks, sendFiles, type TransferOptions } from './transfer.ts'
import { type PickedFile, showTray, type UploadTarget } from './uploads.ts'

/** Browsers have six connections for a server; events take one, and somebody may want to look around. */
const MOST_AT_ONCE = 4
const MOST_BIG_AT_ONCE = 3
const MOST_TRIES = 6
const LATER_MS = [1000, 2000, 4000, 8000, 16_000]
/** How often the page is told at most. */
const TOLD_EVERY_MS = 120
/** What a file counts beside its bytes when the time left is estimated. */
const WORK_A_FILE = 20_000

interface Run {
  readonly work: Work
  readonly stopping: AbortController
  /** All bytes left, so it can no longer be taken back. */
  isSent: boolean
}

/** Sends what is in the queue, several at once, whatever happens to the network meanwhile. */
export class Engine {
  readonly queue = new UploadQueue()
  readonly #sources = new Map<string, Source>()
  readonly #keeper = new Keeper((upload) => this.#sources.get(upload.key) ?? {})
  readonly #connection = new Connection((isCut) => this.#onConnection(isCut))
  readonly #runs = new Set<Run>()
  readonly #listeners = new Set<() => void>()
  readonly #bytes = new RateMeter()
  readonly #work = new RateMeter()
  #account = ''
  #isTelling = false
  #preparing: Promise<void> = Promise.resolve()
  #version = 0
  /** Uploads being looked at before they are queued. */
  preparing = 0
  question: Question | undefined
  /** The folder the last upload went to, for those who want to see it. */
  lastTarget: UploadTarget | undefined

  constructor() {
    addEventListener('beforeunload', (event) => {
      if (this.queue.isBusy || this.preparing > 0) event.preventDefault()
    })
    onSessionChange(() => {
      if (token() === undefined) this.#stop()
    })
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Changes whenever there is something new to show. */
  readonly version = () => this.#version

  get isCut(): boolean {
    return this.#connection.isCut
  }

  get bytesPerSecond(): number {
    return this.#bytes.perSecond(performance.now())
  }

  get secondsLeft(): number | undefined {
    const { work, workDone } = this.queue.totals
    return secondsLeft(work - workDone, this.#work.perSecond(performance.now()))
  }

  add(target: UploadTarget, files: readonly PickedFile[], emptyFolders: readonly string[]): void {
    this.preparing += 1
    this.#tell()
    // One after the other, so that the second knows what the first is about to store.
    this.#preparing = this.#preparing.then(() => this.#prepare(target, files, emptyFolders))
  }

  /** Goes on with what this account left behind. */
  async restore(account: string): Promise<void> {
    if (this.#account === account) return
    this.#account = account
    this.#keeper.account = account
    const kept = await claim(account).catch(() => [])
    if (kept.length === 0) return
    const uploads: Upload[] = []
    for (const { account: _account, tab: _tab, file, handle, ...upload } of kept) {
      if (this.queue.find(upload.key) !== undefined) continue
      const found = file ?? (handle && (await reopened(handle, upload, { ask: false })))
      this.#sources.set(upload.key, { ...(found && { file: found }), ...(handle && { handle }) })
      const isPaused = upload.state === 'paused'
      const state = upload.isFolder || found ? (isPaused ? 'paused' : 'waiting') : 'lost'
      uploads.push({ ...upload, state, tries: 0, isUnsure: true, failure: undefined })
    }
    const [first] = uploads
    if (first === undefined) return
    this.lastTarget ??= { libraryId: first.libraryId, libraryName: first.libraryName, path: first.target }
    showTray()
    this.#enqueue(uploads)
  }

  pause(upload: Upload): void {
    this.#stopAll([upload], () => {
      this.queue.pause(upload)
      this.#keeper.put(upload)
    })
  }

  pauseAll(): void {
    this.#stopAll(this.queue.uploads, (upload) => this.queue.pause(upload))
    for (const upload of this.queue.uploads) if (upload.state === 'paused') this.#keeper.put(upload)
  }

  resume(upload: Upload): void {
    this.queue.resume(upload)
    this.#keeper.put(upload)
    this.#pump()
  }

  resumeAll(state: 'paused' | 'failed'): void {
    for (const upload of this.queue.uploads) {
      if (upload.state !== state) continue
      this.queue.resume(upload)
      this.#keeper.put(upload)
    }
    this.#pump()
  }

  cancel(upload: Upload): void {
    this.#stopAll([upload], () => this.#drop(upload))
  }

  cancelAll(): void {
    this.#stopAll(this.queue.uploads, (upload) => {
      if (upload.state !== 'done') this.#drop(upload)
    })
  }

  /** Takes what is finished off the list. */
  clear(): void {
    this.#stopAll(this.queue.uploads, (upload) => this.#drop(upload))
  }

  /** Asks the browser for leave to read a file again; false if it is not to be had. */
  async reopen(upload: Upload): Promise<boolean> {
    const { handle } = this.#sources.get(upload.key) ?? {}
    const file = handle && (await reopened(handle, upload, { ask: true }))
    if (file === undefined) return false
    this.#giveBack(upload, file)
    return true
  }

  /** Files chosen again find the uploads that lost them. Gives how many did. */
  rechoose(files: readonly PickedFile[]): number {
    const lost = [...this.queue.uploads].filter(({ state }) => state === 'lost')
    let found = 0
    for (const { file, handle } of files) {
      const alike = lost.filter((upload) => upload.state === 'lost' && isSame(file, upload))
      const upload = alike.find(({ name }) => name === file.name) ?? alike[0]
      if (upload === undefined) continue
      this.#giveBack(upload, file, handle)
      found += 1
    }
    return found
  }

  #giveBack(upload: Upload, file: File, handle?: FileSystemFileHandle): void {
    this.#sources.set(upload.key, { file, ...(handle && { handle }) })
    this.resume(upload)
  }

  async #ask(question: Omit<Question, 'answer'>): Promise<Answer | undefined> {
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>()
    this.question = { ...question, answer: resolve }
    this.#tell()
    const answer = await promise
    this.question = undefined
    this.#tell()
    return answer
  }

  async #prepare(
    target: UploadTarget,
    files: readonly PickedFile[],
    emptyFolders: readonly string[],
  ): Promise<void> {
    const options = {
      queued: this.queue.uploads,
      ask: (question: Omit<Question, 'answer'>) => this.#ask(question),
      whenConnected: () => this.#connection.whenBack(),
    }
    const prepared = await preparedUploads(target, files, emptyFolders, options).catch((error: unknown) =>
      failedUploads(target, files, { kind: 'refused', message: String(error) }),
    )
    this.preparing -= 1
    for (const { upload, source } of prepared) this.#sources.set(upload.key, source)
    if (prepared.length > 0) this.lastTarget = target
    this.#enqueue(prepared.map(({ upload }) => upload))
  }

  #enqueue(uploads: readonly Upload[]): void {
    this.queue.add(uploads)
    for (const upload of uploads) if (upload.state !== 'failed') this.#keeper.put(upload)
    this.#pump()
  }

  #pump(): void {
    this.#tell()
    while (!this.isCut && this.#runs.size < MOST_AT_ONCE) {
      const big = [...this.#runs].filter(({ work }) => work.kind === 'chunks').length
      const work = this.queue.take({ mayBeBig: big < MOST_BIG_AT_ONCE })
      if (work === undefined) return
      const run: Run = { work, stopping: new AbortController(), isSent: false }
      this.#runs.add(run)
      void this.#run(run)
    }
  }

  async #run(run: Run): Promise<void> {
    const { kind, uploads } = run.work
    const options = this.#optionsOf(run)
    try {
      if (kind === 'folders') await makeFolders(uploads, options)
      else if (kind === 'chunks') await sendChunks(uploads[0], options)
      else await sendFiles(uploads, options)
    } catch (error) {
      await this.#onError(run, error)
    }
    this.#runs.delete(run)
    this.#pump()
  }

  #optionsOf(run: Run): TransferOptions {
    return {
      signal: run.stopping.signal,
      account: this.#account,
      fileOf: (upload) => this.#fileOf(upload),
      bytesPerSecond: () => this.bytesPerSecond / Math.max(1, this.#runs.size),
      onResume: (upload, stored) => this.queue.progress(upload, stored),
      onProgress: (upload, sent) => {
        const more = Math.max(0, Math.min(sent, upload.size) - upload.sent)
        this.queue.progress(upload, sent)
        this.#measure(more, more)
      },
      onSent: () => {
        run.isSent = true
      },
      onChunkStored: (upload) => {
        upload.tries = 0
        if (upload.isBegun) return
        upload.isBegun = true
        this.#keeper.putNow(upload)
      },
      onStored: (upload, name = upload.name) => {
        upload.name = name
        this.queue.done(upload)
        this.#measure(0, WORK_A_FILE)
        this.#end(upload)
      },
    }
  }

  #fileOf(upload: Upload): File {
    const { file } = this.#sources.get(upload.key) ?? {}
    if (file === undefined) throw new Error(`${upload.name} is not there`)
    return file
  }

  async #onError({ work, stopping, isSent }: Run, error: unknown): Promise<void> {
    const open = () => work.uploads.filter(({ state }) => state === 'sending')
    const verdict = error instanceof ApiError ? verdictOf(error.status, error.message) : undefined
    if (stopping.signal.aborted) {
      for (const upload of open()) this.#putBack(upload, { isUnsure: isSent })
    } else if (verdict === 'cut') await this.#onCut(open())
    else if (verdict === 'later') {
      const tries = Math.max(...work.uploads.map((upload) => upload.tries))
      await new Promise((resolve) => setTimeout(resolve, LATER_MS[Math.min(tries, LATER_MS.length - 1)]))
      this.#again(open(), { kind: 'refused', message: (error as ApiError).message })
    } else if (verdict === 'link' || verdict === 'range') {
      for (const { libraryId, target } of open()) forgetLink(libraryId, target)
      this.#again(open(), { kind: verdict === 'link' ? 'permission' : 'refused', message: '' })
    } else this.#refuse(open(), verdict ?? { kind: 'refused', message: String(error) })
  }

  /** No answer came: because a file cannot be read any more, or because the server cannot be reached. */
  async #onCut(uploads: readonly Upload[]): Promise<void> {
    const failures = await Promise.all(
      uploads.map(async (upload) => {
        const { file } = this.#sources.get(upload.key) ?? {}
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
    if (readable.length === uploads.length) this.#connection.cut()
    this.#again(readable, { kind: 'unreachable', message: '' })
  }

  #again(uploads: readonly Upload[], failure: Failure): void {
    for (const upload of uploads) {
      if (upload.state !== 'sending') continue
      upload.tries += 1
      if (upload.tries > MOST_TRIES) this.#fail(upload, failure)
      else this.#putBack(upload, { isUnsure: upload.isUnsure })
    }
  }

  #refuse(uploads: readonly Upload[], failure: Failure): void {
    // Of several files one may be to blame, so each is tried by itself.
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
      // A file that is locked cannot be replaced; that says nothing about others.
      const isItsOwn = upload.replace && failure.kind === 'permission'
      if (!isItsOwn) for (const other of this.queue.failLike(upload, failure)) this.#keeper.end(other)
    }
  }

  #fail(upload: Upload, failure: Failure): void {
    this.queue.fail(upload, failure)
    this.#keeper.end(upload)
  }

  #putBack(upload: Upload, { isUnsure }: { isUnsure: boolean }): void {
    upload.isUnsure ||= isUnsure
    this.queue.putBack(upload)
  }

  /** Does something to uploads that can still be stopped, and ends their requests; others in them go again. */
  #stopAll(uploads: Iterable<Upload>, act: (upload: Upload) => void): void {
    const runs = new Map<Upload, Run>()
    for (const run of this.#runs) for (const upload of run.work.uploads) runs.set(upload, run)
    const stopped = new Set<Run>()
    for (const upload of uploads) {
      const run = upload.state === 'sending' ? runs.get(upload) : undefined
      if (run?.isSent) continue
      act(upload)
      if (run !== undefined) stopped.add(run)
    }
    for (const run of stopped) run.stopping.abort()
    this.#pump()
  }

  #drop(upload: Upload): void {
    this.queue.remove(upload)
    this.#end(upload)
  }

  #end(upload: Upload): void {
    this.#sources.delete(upload.key)
    this.#keeper.end(upload)
  }

  #onConnection(isCut: boolean): void {
    this.#bytes.reset()
    this.#work.reset()
    if (isCut) {
      // Without a network no answer will come either.
      if (!navigator.onLine) for (const run of this.#runs) this.#giveUp(run)
      this.#tell()
    } else this.#pump()
  }

  #giveUp(run: Run): void {
    for (const upload of run.work.uploads) upload.isUnsure = true
    run.stopping.abort()
  }

  #measure(bytes: number, work: number): void {
    const now = performance.now()
    this.#bytes.add(now, bytes)
    this.#work.add(now, work)
    this.#tell()
  }

  #tell(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    setTimeout(() => {
      this.#isTelling = false
      this.#version += 1
      for (const listener of this.#listeners) listener()
    }, TOLD_EVERY_MS)
  }

  /** Nobody is signed in any more. What was written down waits for them to come back. */
  #stop(): void {
    this.#keeper.stop()
    this.#account = ''
    this.question?.answer(undefined)
    this.queue.clear()
    this.#sources.clear()
    forgetLinks()
    for (const run of this.#runs) run.stopping.abort()
    this.#tell()
  }
}

export const engine = new Engine()
