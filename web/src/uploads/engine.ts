import type { Answer, Known } from './conflicts.ts'
import type { UploadScan } from './dropped-files.ts'
import { eager } from './eager.ts'
import { Journal } from './journal.ts'
import { toNfc } from './names.ts'
import type { Clock, Network } from './network.ts'
import { existingEntries, newUpload, type PlanOptions, planUploads, type Question } from './plan-uploads.ts'
import { type Upload, UploadQueue } from './queue.ts'
import { Runner } from './runner.ts'
import { isSame, reopened, type Source } from './sources.ts'
import { folderOf } from './transfer.ts'
import type { StoredUpload, UploadStore, Visits } from './upload-store.ts'
import type { PickedFile, UploadTarget } from './uploads.ts'

/** Throttle of notifications to the page. */
const NOTIFY_EVERY_MS = 120

interface EngineParts {
  readonly store: UploadStore
  readonly visits: Visits
  readonly network: Network
  readonly clock: Clock
  /** Called when uploads of an earlier visit were found. */
  readonly onFound: () => void
}

/**
 * All uploads of a page. A dropped file is recorded in the store before it is counted. From then on it is in one state: waiting, stored by the server,
 * failed, or its file must be selected again. Only the user removes it, or its storage together with all others.
 */
export class Engine {
  readonly queue = new UploadQueue((upload) => this.#journal?.note(upload))
  readonly #parts: EngineParts
  readonly #files = new Map<string, File>()
  readonly #runner: Runner
  readonly #listeners = new Set<() => void>()
  /** Set while an account is signed in. */
  #journal: Journal | undefined
  #account = ''
  /** Id of the visit. */
  #owner = ''
  #endVisit: () => void = () => undefined
  #started = Promise.withResolvers<void>()
  /** Other visits of the account. */
  readonly #watched = new Set<string>()
  #isTelling = false
  #planning: Promise<void> = Promise.resolve()
  #version = 0
  /** Incremented when all uploads are cancelled, which ends scans in progress. */
  #generation = 0
  /** Number of uploads being scanned and planned. */
  preparing = 0
  /** Number of files that the scans in progress have found. */
  found = 0
  question: Question | undefined
  /** Target folder of the last upload. */
  lastTarget: UploadTarget | undefined

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.#runner = new Runner({
      ...parts,
      queue: this.queue,
      account: () => this.#account,
      fileOf: (upload) => this.#fileOf(upload),
      namesBeside: (upload) => this.#namesBeside(upload),
      settled: () => this.#journal?.settled() ?? Promise.resolve(),
      onChange: () => this.#tell(),
      onStored: (upload) => this.#files.delete(upload.key),
    })
    parts.visits.onAnnounced((owner) => this.#watch(owner))
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

  /** Whether closing the page would interrupt something. */
  get isBusy(): boolean {
    return this.queue.isBusy || this.preparing > 0
  }

  /** Whether uploads end with the page, because the browser cannot store them. */
  get isVolatile(): boolean {
    return this.#journal?.isVolatile === true
  }

  get bytesPerSecond(): number {
    return this.#runner.bytesPerSecond
  }

  get secondsLeft(): number | undefined {
    return this.#runner.secondsLeft
  }

  /** Resolves once all files of a scan are recorded; false if it was cancelled. */
  add(target: UploadTarget, scan: UploadScan): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    // Files are recorded as they are found. Plans are made one after the other, so that the second sees the targets of the first.
    const recorded = eager(this.#record(target, scan, resolve))
    this.#plan(() => this.#planScan(target, scan.tops, recorded))
    return promise
  }

  /** Begins a visit of this account, and resumes the uploads of earlier ones. */
  async restore(account: string): Promise<void> {
    if (this.#account === account) return
    this.#account = account
    const { visits, store, clock } = this.#parts
    const owner = newId()
    const end = await visits.begin(owner)
    if (this.#account !== account) return end()
    this.#owner = owner
    this.#endVisit = end
    this.#journal = new Journal({
      ...this.#parts,
      account,
      owner,
      fileOf: (upload) => this.#files.get(upload.key),
      onClaimed: () => this.#beginAgain(account),
      onChange: () => this.#tell(),
    })
    this.#started.resolve()
    await store.expire(account, clock.now()).catch(() => undefined)
    await this.#watchOthers()
    await this.#announceNone()
  }

  /** Ends the visit, at sign-out. Its uploads wait for the next one. */
  stop(): void {
    this.#generation += 1
    const journal = this.#journal
    const end = this.#endVisit
    this.#journal = undefined
    this.#account = ''
    this.#endVisit = () => undefined
    this.#watched.clear()
    this.#started.resolve()
    this.#started = Promise.withResolvers()
    this.question?.answer(undefined)
    this.queue.clear()
    this.#files.clear()
    this.#runner.abort()
    this.#tell()
    void (journal?.end() ?? Promise.resolve()).then(end)
  }

  pause(upload: Upload): void {
    this.#runner.stop([upload], () => this.queue.pause(upload))
  }

  pauseAll(): void {
    this.#runner.stop(this.queue.uploads, (upload) => this.queue.pause(upload))
  }

  resume(upload: Upload): void {
    this.#resume([upload])
  }

  resumeAll(state: 'paused' | 'failed'): void {
    this.#resume([...this.queue.uploads].filter((upload) => upload.state === state && canResume(upload)))
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

  /** Empties the list. */
  clear(): void {
    this.#runner.stop(this.queue.uploads, (upload) => this.#drop(upload))
  }

  /** Asks for permission to read a file again; false if denied. */
  async reopen(upload: Upload): Promise<boolean> {
    const { handle } = (await this.#parts.store.source(upload.key).catch(() => undefined)) ?? {}
    const file = handle && (await reopened(handle, upload, { ask: true }))
    if (file === undefined) return false
    this.#giveBack(upload, file)
    return true
  }

  /** Matches selected files with uploads that lost theirs. Returns the number of matches. */
  rechoose(files: readonly PickedFile[]): number {
    const lost = Map.groupBy(
      [...this.queue.uploads].filter(({ state }) => state === 'lost'),
      ({ size, modified }) => `${size} ${modified}`,
    )
    let found = 0
    for (const { file } of files) {
      if (file === undefined) continue
      const alike = lost.get(`${file.size} ${file.lastModified}`) ?? []
      const upload = alike.find((one) => one.state === 'lost' && isSame(file, one))
      if (upload === undefined) continue
      this.#giveBack(upload, file)
      found += 1
    }
    return found
  }

  #giveBack(upload: Upload, file: File): void {
    this.#files.set(upload.key, file)
    this.#resume([upload])
  }

  #resume(uploads: readonly Upload[]): void {
    for (const upload of uploads) this.queue.resume(upload)
    this.#planFound(uploads.filter(({ isPlanned }) => !isPlanned))
    this.#runner.pump()
  }

  /** The files of a scan, once they are recorded. */
  async *#record(
    target: UploadTarget,
    scan: UploadScan,
    onEnd: (isWhole: boolean) => void,
  ): AsyncGenerator<readonly Upload[]> {
    const generation = this.#generation
    await this.#started.promise
    if (generation !== this.#generation) return onEnd(false)
    const drop = newId()
    this.#parts.network.prefetch(target.libraryId, target.path)
    for await (const { files, emptyFolders } of scan.batches) {
      const uploads: Upload[] = []
      const sources = new Map<string, Source>()
      for (const one of [...emptyFolders, ...files]) {
        const upload = newUpload(target, one, drop, this.#parts.clock.now())
        uploads.push(upload)
        if (typeof one === 'string' || one.file === undefined) continue
        sources.set(upload.key, one)
        this.#files.set(upload.key, one.file)
      }
      const journal = this.#journal
      this.#parts.visits.announce(this.#owner)
      await journal?.add(uploads, sources)
      // Cancelled or signed out meanwhile.
      if (generation !== this.#generation || journal !== this.#journal) {
        for (const upload of uploads) {
          journal?.remove(upload)
          this.#files.delete(upload.key)
        }
        return onEnd(false)
      }
      // Once more: another page may have found nothing in between.
      this.#parts.visits.announce(this.#owner)
      this.queue.add(uploads)
      this.lastTarget = target
      this.found += uploads.length
      this.#tell()
      yield uploads
    }
    onEnd(true)
  }

  /**
   * Plans each batch as it is found, if the target has none of the top names: then nothing can conflict. Otherwise plans all files at the end of the
   * scan, so that the question about conflicts is asked once.
   */
  async #planScan(
    target: UploadTarget,
    tops: readonly string[],
    recorded: AsyncIterable<readonly Upload[]>,
  ): Promise<void> {
    const generation = this.#generation
    await this.#started.promise
    if (generation !== this.#generation) return
    const known = await existingEntries(target, tops, this.#planOptions())
    const isFree = (there: Known) => tops.every((top) => !there.get('')?.has(toNfc(top)))
    const before = !('kind' in known) && isFree(known) ? { known, given: new Map() } : undefined
    const all: Upload[] = []
    for await (const uploads of recorded) {
      if (before !== undefined) await this.#planUploads(target, uploads, before)
      else for (const upload of uploads) all.push(upload)
    }
    if (before === undefined) await this.#planUploads(target, all)
  }

  /** Plans uploads that were recorded by an earlier visit, or could not be planned. */
  #planFound(uploads: readonly Upload[]): void {
    const places = Map.groupBy(uploads, ({ drop, libraryId, target }) => `${drop} ${libraryId}${target}`)
    for (const some of places.values()) {
      const [first] = some
      if (first !== undefined) this.#plan(() => this.#planUploads(targetOf(first), some))
    }
  }

  #plan(plan: () => Promise<void>): void {
    this.preparing += 1
    this.#tell()
    this.#planning = this.#planning.then(plan).finally(() => {
      this.preparing -= 1
      if (this.preparing === 0) this.found = 0
      this.#afterChange()
      this.#tell()
    })
  }

  async #planUploads(
    target: UploadTarget,
    uploads: readonly Upload[],
    before?: PlanOptions['before'],
  ): Promise<void> {
    const isOpen = (upload: Upload) =>
      this.queue.find(upload.key) === upload && !upload.isPlanned && upload.state !== 'failed'
    const open = uploads.filter(isOpen)
    if (open.length === 0) return
    const generation = this.#generation
    const options = { ...this.#planOptions(), ...(before && { before }) }
    const decisions = await planUploads(target, open, options)
    if (generation !== this.#generation) return
    for (const [upload, decision] of decisions) {
      if (!isOpen(upload)) continue
      if (decision === undefined) this.#drop(upload)
      else if ('kind' in decision) this.queue.fail(upload, decision)
      else this.queue.plan(upload, decision)
    }
    this.#runner.pump()
  }

  #planOptions(): PlanOptions {
    return {
      network: this.#parts.network,
      queued: this.queue.uploads,
      ask: (question) => this.#ask(question),
      whenConnected: () => this.#runner.connection.whenBack(),
    }
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

  /** Claims the uploads of the other visits of this account as soon as these end. */
  async #watchOthers(): Promise<void> {
    const { store, visits } = this.#parts
    const account = this.#account
    const records = await store.records().catch(() => [])
    const others = await visits.others()
    if (account === '' || account !== this.#account) return
    const owners = records.filter((one) => one.account === account).map(({ owner }) => owner)
    for (const owner of new Set([...owners, ...others])) this.#watch(owner)
  }

  #watch(owner: string): void {
    const account = this.#account
    if (account === '' || owner === this.#owner || this.#watched.has(owner)) return
    this.#watched.add(owner)
    this.#parts.visits.whenEnded(owner, () => void this.#claim(account, owner))
  }

  async #claim(account: string, from: string): Promise<void> {
    const owner = this.#owner
    if (account !== this.#account || !this.#watched.delete(from)) return
    // First, so that a third page goes on if this one ends in between.
    this.#parts.visits.announce(owner)
    const kept = await this.#parts.store.claim(account, from, owner).catch(() => [])
    if (owner !== this.#owner || account !== this.#account) return
    const uploads = kept.filter(({ key }) => this.queue.find(key) === undefined).map(resumed)
    const [first] = uploads
    if (first === undefined) return void this.#announceNone()
    this.lastTarget ??= targetOf(first)
    this.#journal?.claimed(uploads)
    this.queue.add(uploads)
    this.#parts.onFound()
    this.#planFound(uploads.filter(({ isPlanned, state }) => !isPlanned && state !== 'failed'))
    this.#runner.pump()
  }

  /** Another page took this one for dead, and has its uploads now. */
  #beginAgain(account: string): void {
    this.stop()
    void this.restore(account)
  }

  async #fileOf(upload: Upload): Promise<File | undefined> {
    const known = this.#files.get(upload.key)
    if (known !== undefined || upload.isFolder) return known
    const { file, handle } = (await this.#parts.store.source(upload.key).catch(() => undefined)) ?? {}
    const found = file ?? (handle && (await reopened(handle, upload, { ask: false })))
    if (found !== undefined && this.queue.find(upload.key) === upload) this.#files.set(upload.key, found)
    return found
  }

  /** The names that other uploads have in the folder of `upload`. */
  #namesBeside(upload: Upload): ReadonlyMap<string, Upload> {
    const place = folderOf(upload)
    const names = new Map<string, Upload>()
    for (const other of this.queue.uploads) {
      const isBeside = other.libraryId === upload.libraryId && other.isPlanned && folderOf(other) === place
      // One that is stored has its name for certain.
      if (isBeside && names.get(other.name)?.state !== 'done') names.set(other.name, other)
    }
    return names
  }

  #drop(upload: Upload): void {
    this.queue.remove(upload)
    this.#files.delete(upload.key)
    this.#journal?.remove(upload)
    this.#afterChange()
  }

  /** Once all uploads are stored and the user can see it, none of them has to survive. */
  #afterChange(): void {
    if (this.preparing > 0 || (this.queue.totals.all > 0 && !this.queue.isDone)) return
    if (this.#journal?.removeAll() === true) void this.#announceNone()
  }

  /** Lets later visits skip the store, if it is empty. */
  async #announceNone(): Promise<void> {
    const { store, visits } = this.#parts
    await this.#journal?.settled()
    const isEmpty = async () => (await store.records().catch(() => [undefined])).length === 0
    if (!(await isEmpty())) return
    visits.announce(undefined)
    // Another page may have recorded some just before.
    if (!(await isEmpty())) visits.announce(this.#owner)
  }

  #tell(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    this.#parts.clock.after(NOTIFY_EVERY_MS, () => {
      this.#isTelling = false
      this.#version += 1
      for (const listener of this.#listeners) listener()
      this.#afterChange()
    })
  }
}

/** Retrying does not help if the name is not allowed, or the file could not be read. */
export const canResume = ({ failure, isPlanned }: Upload) =>
  failure?.kind !== 'name' && (isPlanned || failure?.kind !== 'unreadable')

function newId(): string {
  return Array.from({ length: 2 }, () => Math.random().toString(36).slice(2, 12)).join('')
}

const targetOf = ({ libraryId, libraryName, target }: Upload): UploadTarget => ({
  libraryId,
  libraryName,
  path: target,
})

/** An upload of an earlier visit. A request for it may have been under way. */
function resumed({ account: _account, owner: _owner, ...upload }: StoredUpload): Upload {
  const state = upload.state === 'lost' ? 'waiting' : upload.state
  return { ...upload, state, tries: 0, isUnsure: upload.isUnsure || upload.isPlanned, isAlone: false }
}
