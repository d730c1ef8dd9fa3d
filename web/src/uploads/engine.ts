import { onSessionChange, token } from '../api/index.ts'
import type { Answer } from './conflicts.ts'
import type { UploadScan } from './dropped-files.ts'
import { forgetLinks, uploadLink } from './links.ts'
import { toNfc } from './names.ts'
import {
  existingEntries,
  failedUploads,
  type PlanOptions,
  planUploads,
  type Question,
} from './plan-uploads.ts'
import { type Upload, UploadQueue } from './queue.ts'
import { Runner } from './runner.ts'
import { isSame, reopened, type Source } from './sources.ts'
import { UploadPersistence } from './upload-persistence.ts'
import { claimUploads } from './upload-store.ts'
import { type PickedFile, showTray, type UploadTarget } from './uploads.ts'

/** Throttle of notifications to the page. */
const NOTIFY_EVERY_MS = 120

/** Coordinates all uploads of the page: planning, the queue, the runner and persistence. */
export class Engine {
  readonly queue = new UploadQueue()
  readonly #sources = new Map<string, Source>()
  readonly #persistence = new UploadPersistence((upload) => this.#sources.get(upload.key) ?? {})
  readonly #runner = new Runner({
    queue: this.queue,
    sources: this.#sources,
    persistence: this.#persistence,
    account: () => this.#account,
    onChange: () => this.#tell(),
    onStored: (upload) => this.#end(upload),
  })
  readonly #listeners = new Set<() => void>()
  #account = ''
  #isTelling = false
  #preparing: Promise<void> = Promise.resolve()
  #version = 0
  /** Incremented when all uploads are cancelled, which ends scans in progress. */
  #generation = 0
  /** Number of uploads being scanned and planned. */
  preparing = 0
  /** Number of files that the current scan has found. */
  found = 0
  question: Question | undefined
  /** Target folder of the last upload. */
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

  /** Incremented whenever something changes. */
  readonly version = () => this.#version

  get isCut(): boolean {
    return this.#runner.connection.isCut
  }

  get bytesPerSecond(): number {
    return this.#runner.bytesPerSecond
  }

  get secondsLeft(): number | undefined {
    return this.#runner.secondsLeft
  }

  add(target: UploadTarget, scan: UploadScan): void {
    this.preparing += 1
    this.#tell()
    // Sequential, so that the second plan sees the targets of the first.
    this.#preparing = this.#preparing.then(() => this.#prepare(target, scan))
  }

  /** Resumes stored uploads of this account. */
  async restore(account: string): Promise<void> {
    if (this.#account === account) return
    this.#account = account
    this.#persistence.account = account
    const kept = await claimUploads(account).catch(() => [])
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
    this.#persistence.restored(uploads)
    this.#enqueue(uploads)
  }

  pause(upload: Upload): void {
    this.#runner.stop([upload], () => {
      this.queue.pause(upload)
      this.#persistence.put(upload)
    })
  }

  pauseAll(): void {
    this.#runner.stop(this.queue.uploads, (upload) => this.queue.pause(upload))
    for (const upload of this.queue.uploads) if (upload.state === 'paused') this.#persistence.put(upload)
  }

  resume(upload: Upload): void {
    this.queue.resume(upload)
    this.#persistence.put(upload)
    this.#runner.pump()
  }

  resumeAll(state: 'paused' | 'failed'): void {
    for (const upload of this.queue.uploads) {
      if (upload.state !== state) continue
      this.queue.resume(upload)
      this.#persistence.put(upload)
    }
    this.#runner.pump()
  }

  cancel(upload: Upload): void {
    this.#runner.stop([upload], () => this.#drop(upload))
  }

  cancelAll(): void {
    this.#generation += 1
    this.#runner.stop(this.queue.uploads, (upload) => {
      if (upload.state !== 'done') this.#drop(upload)
    })
  }

  /** Removes finished uploads from the list. */
  clear(): void {
    this.#runner.stop(this.queue.uploads, (upload) => this.#drop(upload))
  }

  /** Asks for permission to read a file again; false if denied. */
  async reopen(upload: Upload): Promise<boolean> {
    const { handle } = this.#sources.get(upload.key) ?? {}
    const file = handle && (await reopened(handle, upload, { ask: true }))
    if (file === undefined) return false
    this.#giveBack(upload, file)
    return true
  }

  /** Matches selected files with uploads that lost theirs. Returns the number of matches. */
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

  async #prepare(target: UploadTarget, scan: UploadScan): Promise<void> {
    const generation = this.#generation
    // Prefetches the upload link during planning. Errors surface when it is used.
    uploadLink(target.libraryId, target.path).catch(() => undefined)
    try {
      for await (const prepared of this.#planned(target, scan)) {
        // Cancelled or signed out meanwhile.
        if (generation !== this.#generation) break
        for (const { upload, source } of prepared) this.#sources.set(upload.key, source)
        if (prepared.length > 0) this.lastTarget = target
        this.#enqueue(prepared.map(({ upload }) => upload))
      }
    } finally {
      this.preparing -= 1
      this.found = 0
      this.#tell()
    }
  }

  /**
   * Plans each batch as it is found, if the target has none of the top names: then nothing can conflict. Otherwise
   * plans all files at the end of the scan, so that the question about conflicts is asked once.
   */
  async *#planned(target: UploadTarget, { tops, batches }: UploadScan) {
    const options = {
      queued: this.queue.uploads,
      ask: (question: Omit<Question, 'answer'>) => this.#ask(question),
      whenConnected: () => this.#runner.connection.whenBack(),
    }
    const plan = (files: readonly PickedFile[], folders: readonly string[], before?: PlanOptions['before']) =>
      planUploads(target, files, folders, { ...options, ...(before && { before }) }).catch((error: unknown) =>
        failedUploads(target, files, { kind: 'refused', message: String(error) }),
      )
    const known = await existingEntries(target, tops, options).catch(() => undefined)
    const isFree =
      known !== undefined && !('kind' in known) && tops.every((top) => !known.get('')?.has(toNfc(top)))
    const before = isFree ? { known, given: new Map() } : undefined
    const all = { files: [] as PickedFile[], emptyFolders: [] as string[] }
    for await (const { files, emptyFolders } of batches) {
      this.found += files.length
      this.#tell()
      if (before !== undefined) yield await plan(files, emptyFolders, before)
      else {
        for (const file of files) all.files.push(file)
        for (const folder of emptyFolders) all.emptyFolders.push(folder)
      }
    }
    if (before === undefined) yield await plan(all.files, all.emptyFolders)
  }

  #enqueue(uploads: readonly Upload[]): void {
    this.queue.add(uploads)
    for (const upload of uploads) if (upload.state !== 'failed') this.#persistence.put(upload)
    this.#runner.pump()
  }

  #drop(upload: Upload): void {
    this.queue.remove(upload)
    this.#end(upload)
  }

  #end(upload: Upload): void {
    this.#sources.delete(upload.key)
    this.#persistence.end(upload)
  }

  #tell(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    setTimeout(() => {
      this.#isTelling = false
      this.#version += 1
      for (const listener of this.#listeners) listener()
    }, NOTIFY_EVERY_MS)
  }

  /** Called at sign-out. Stored uploads wait for the next sign-in. */
  #stop(): void {
    this.#generation += 1
    this.#persistence.stop()
    this.#account = ''
    this.question?.answer(undefined)
    this.queue.clear()
    this.#sources.clear()
    forgetLinks()
    this.#runner.abort()
    this.#tell()
  }
}

export const engine = new Engine()
