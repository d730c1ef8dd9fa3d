import { BIG, SMALL } from './chunks.ts'
import { type Failure, type FailureKind, scopeOfFailure } from './failures.ts'

export type UploadState =
  | 'waiting'
  | 'sending'
  | 'paused'
  | 'done'
  | 'failed'
  /** The file must be selected again before its bytes can be read. */
  | 'lost'

/** A file to upload, or a folder to create. */
export interface Upload {
  readonly key: string
  /** Id of the drop that it is part of. */
  readonly drop: string
  readonly isFolder: boolean
  readonly libraryId: string
  readonly libraryName: string
  /** Path of the target folder. */
  readonly target: string
  /** Folder below the target, '' for the target itself. */
  folder: string
  /** Requested name. The server may choose another. */
  name: string
  /** Whether its folder, name and `replace` are decided. Until then they are those of the dropped file, and it is not sent. */
  isPlanned: boolean
  /** Bytes. */
  readonly size: number
  /** Modification time in milliseconds: stored with the file, and used to recognize it when it is selected again. */
  readonly modified: number
  replace: boolean
  /** Milliseconds. */
  readonly addedAt: number
  state: UploadState
  /** Bytes sent or stored by the server. */
  sent: number
  failure: Failure | undefined
  /** Consecutive failed attempts. */
  tries: number
  /** Whether the server may have stored it without a response having arrived. */
  isUnsure: boolean
  /** Whether the partial upload on the server belongs to this upload. */
  isBegun: boolean
  /** Whether it is sent alone, because a batch with it was refused. */
  isAlone: boolean
}

export type Work =
  | { readonly kind: 'files'; readonly uploads: readonly Upload[] }
  | { readonly kind: 'chunks'; readonly uploads: readonly [Upload] }
  | { readonly kind: 'folders'; readonly uploads: readonly Upload[] }

/** Totals of the queue. Work is bytes plus a constant for each file, so that many small files count too. */
interface Totals {
  readonly counts: Readonly<Record<UploadState, number>>
  readonly all: number
  readonly work: number
  readonly workDone: number
}

const MAX_PER_REQUEST = 100
const MAX_BYTES_PER_REQUEST = 8_000_000
const MAX_FOLDERS_PER_REQUEST = 500
/** How many uploads are examined to fill a batch. */
const FARTHEST = 1000
const WORK_PER_FILE = 20_000

/** State of all uploads, in order. Sends nothing itself. An upload leaves it only through `remove` and `clear`. */
export class UploadQueue {
  readonly #onChange: (upload: Upload) => void
  readonly #uploads = new Map<string, Upload>()
  readonly #waiting = new Set<Upload>()
  /** Retries, which go first. */
  readonly #again = new Set<Upload>()
  #counts: Record<UploadState, number> = noCounts()
  #work = 0
  #workDone = 0

  /** `onChange` is called after each change of an upload that must survive the end of the page. */
  constructor(onChange: (upload: Upload) => void = () => undefined) {
    this.#onChange = onChange
  }

  get uploads(): Iterable<Upload> {
    return this.#uploads.values()
  }

  get totals(): Totals {
    return { counts: this.#counts, all: this.#uploads.size, work: this.#work, workDone: this.#workDone }
  }

  get isBusy(): boolean {
    return this.#counts.waiting + this.#counts.sending > 0
  }

  /** Whether anything is being sent, or could be. */
  get isSending(): boolean {
    return this.#waiting.size + this.#again.size + this.#counts.sending > 0
  }

  /** Whether all uploads are stored. */
  get isDone(): boolean {
    return this.#uploads.size > 0 && this.#counts.done === this.#uploads.size
  }

  find(key: string): Upload | undefined {
    return this.#uploads.get(key)
  }

  add(uploads: readonly Upload[]): void {
    for (const upload of uploads) {
      this.#uploads.set(upload.key, upload)
      this.#counts[upload.state] += 1
      this.#work += workOf(upload)
      this.#workDone += doneOf(upload)
      if (upload.state === 'waiting' && upload.isPlanned) this.#waiting.add(upload)
    }
  }

  /** Decides where an upload goes. */
  plan(upload: Upload, place: Pick<Upload, 'folder' | 'name' | 'replace'>): void {
    if (!this.#has(upload)) return
    Object.assign(upload, place, { isPlanned: true })
    if (upload.state === 'waiting') this.#waiting.add(upload)
    this.#onChange(upload)
  }

  /** From now on the partial upload on the server belongs to this upload. */
  begin(upload: Upload): void {
    if (upload.isBegun || !this.#has(upload)) return
    upload.isBegun = true
    this.#onChange(upload)
  }

  /** Takes the next work and marks it as being sent. */
  take({ mayBeBig }: { mayBeBig: boolean }): Work | undefined {
    for (const set of [this.#again, this.#waiting]) {
      for (const first of set) {
        if (isBig(first) && !mayBeBig) continue
        const work = this.#workFrom(first)
        for (const upload of work.uploads) this.#move(upload, 'sending')
        return work
      }
    }
    return undefined
  }

  progress(upload: Upload, sent: number): void {
    if (!this.#has(upload)) return
    this.#workDone -= doneOf(upload)
    upload.sent = Math.min(sent, upload.size)
    this.#workDone += doneOf(upload)
  }

  /** The server stored it, under this name. */
  done(upload: Upload, name: string): void {
    upload.name = name
    this.#move(upload, 'done')
  }

  fail(upload: Upload, failure: Failure): void {
    upload.failure = failure
    this.#move(upload, 'failed')
  }

  /** Fails all waiting uploads that would fail for the same reason as `upload`. Returns them. */
  failLike(upload: Upload, failure: Failure): Upload[] {
    const alike = [...this.#again, ...this.#waiting].filter((other) =>
      sharesFate(other, upload, failure.kind),
    )
    for (const other of alike) this.fail(other, failure)
    return alike
  }

  /** Puts uploads back to the front of the queue. */
  putBack(upload: Upload): void {
    this.#move(upload, 'waiting')
  }

  lose(upload: Upload): void {
    this.#move(upload, 'lost')
  }

  pause(upload: Upload): void {
    if (upload.state === 'waiting' || upload.state === 'sending') this.#move(upload, 'paused')
  }

  /** Restarts paused or failed uploads with a fresh retry count. */
  resume(upload: Upload): void {
    if (upload.state !== 'paused' && upload.state !== 'failed' && upload.state !== 'lost') return
    upload.tries = 0
    upload.failure = undefined
    this.#move(upload, 'waiting')
  }

  remove(upload: Upload): void {
    if (!this.#has(upload)) return
    this.#uploads.delete(upload.key)
    this.#waiting.delete(upload)
    this.#again.delete(upload)
    this.#counts[upload.state] -= 1
    this.#work -= workOf(upload)
    this.#workDone -= doneOf(upload)
  }

  clear(): void {
    this.#uploads.clear()
    this.#waiting.clear()
    this.#again.clear()
    this.#counts = noCounts()
    this.#work = 0
    this.#workDone = 0
  }

  /** By identity: after a new sign-in the same upload is another object, and requests of the old one still end. */
  #has(upload: Upload): boolean {
    return this.#uploads.get(upload.key) === upload
  }

  #workFrom(first: Upload): Work {
    if (isBig(first)) return { kind: 'chunks', uploads: [first] }
    if (first.isFolder) return { kind: 'folders', uploads: this.#like(first, MAX_FOLDERS_PER_REQUEST) }
    return { kind: 'files', uploads: this.#like(first, MAX_PER_REQUEST) }
  }

  /** Batch: the upload with others that fit in the same request. */
  #like(first: Upload, most: number): Upload[] {
    const found = [first]
    if (first.isAlone || first.size > SMALL) return found
    let bytes = first.size
    let looked = 0
    for (const set of [this.#again, this.#waiting]) {
      for (const other of set) {
        if (found.length >= most || ++looked > FARTHEST) return found
        if (other === first || !goesWith(other, first)) continue
        if (bytes + other.size > MAX_BYTES_PER_REQUEST) return found
        bytes += other.size
        found.push(other)
      }
    }
    return found
  }

  #move(upload: Upload, state: UploadState): void {
    if (!this.#has(upload)) return
    this.#waiting.delete(upload)
    this.#again.delete(upload)
    const before = upload.state
    this.#counts[before] -= 1
    this.#counts[state] += 1
    this.#workDone -= doneOf(upload)
    upload.state = state
    // Bytes of an aborted request did not arrive; complete chunks did.
    if (state === 'done') upload.sent = upload.size
    else if (state !== 'sending' && !upload.isBegun) upload.sent = 0
    this.#workDone += doneOf(upload)
    if (state === 'waiting' && upload.isPlanned) this.#again.add(upload)
    if (storedState(before) !== storedState(state)) this.#onChange(upload)
  }
}

/** What a later page finds: whether a request was under way when the page ended is not known. */
export const storedState = (state: UploadState): UploadState => (state === 'sending' ? 'waiting' : state)

const isBig = (upload: Upload) => upload.size > BIG

function goesWith(other: Upload, first: Upload): boolean {
  if (other.libraryId !== first.libraryId || other.isFolder !== first.isFolder) return false
  if (first.isFolder) return true
  const isSamePlace = other.target === first.target && other.folder === first.folder
  return isSamePlace && other.replace === first.replace && other.size <= SMALL && !other.isAlone
}

function sharesFate(other: Upload, met: Upload, kind: FailureKind): boolean {
  if (other.libraryId !== met.libraryId) return false
  // A smaller file may still fit.
  if (kind === 'quota' || kind === 'too-large') return other.size >= met.size && !other.isFolder
  const reach = scopeOfFailure(kind)
  return reach === 'library' || (reach === 'folder' && other.target === met.target)
}

const workOf = ({ size }: Upload) => size + WORK_PER_FILE

function doneOf(upload: Upload): number {
  // Progress does not wait for failed or lost uploads.
  if (upload.state === 'done' || upload.state === 'failed') return workOf(upload)
  return upload.sent
}

function noCounts(): Record<UploadState, number> {
  return { waiting: 0, sending: 0, paused: 0, done: 0, failed: 0, lost: 0 }
}
