import { BIG, SMALL } from './chunks.ts'
import { type Failure, type FailureKind, reachOf } from './failures.ts'

export type UploadState =
  | 'waiting'
  | 'sending'
  | 'paused'
  | 'done'
  | 'failed'
  /** Its bytes are out of reach until somebody chooses the file again. */
  | 'lost'

/** A file on its way, or a folder to be made. */
export interface Upload {
  readonly key: string
  readonly isFolder: boolean
  readonly libraryId: string
  readonly libraryName: string
  /** The folder it was dropped on. */
  readonly target: string
  /** Below the target, '' for the target itself. */
  readonly folder: string
  /** What it is to be called; the server may know better. */
  name: string
  /** Bytes. */
  readonly size: number
  /** Milliseconds; tells whether a file chosen again is the same. */
  readonly modified: number
  readonly replace: boolean
  /** Milliseconds. */
  readonly addedAt: number
  state: UploadState
  /** Bytes that left, or that the server has. */
  sent: number
  failure: Failure | undefined
  /** Attempts that failed in a row. */
  tries: number
  /** Whether the server may have it although nobody heard so. */
  isUnsure: boolean
  /** Whether what the server has of it in chunks is of this very upload. */
  isBegun: boolean
  /** Whether it goes in a request of its own, because one with others was refused. */
  isAlone: boolean
}

export type Work =
  | { readonly kind: 'files'; readonly uploads: readonly Upload[] }
  | { readonly kind: 'chunks'; readonly uploads: readonly [Upload] }
  | { readonly kind: 'folders'; readonly uploads: readonly Upload[] }

/** How it all stands. Work counts bytes, and something for each file, so that many small ones count too. */
interface Totals {
  readonly counts: Readonly<Record<UploadState, number>>
  readonly all: number
  readonly work: number
  readonly workDone: number
}

const MOST_A_REQUEST = 100
const MOST_BYTES_A_REQUEST = 8_000_000
const MOST_FOLDERS_A_REQUEST = 500
/** How far down the queue others for a request are looked for. */
const FARTHEST = 1000
const WORK_A_FILE = 20_000

/** What is to be uploaded, in order, and what has become of it. Sends nothing itself. */
export class UploadQueue {
  readonly #uploads = new Map<string, Upload>()
  readonly #waiting = new Set<Upload>()
  /** Tried before; goes first. */
  readonly #again = new Set<Upload>()
  #counts: Record<UploadState, number> = noCounts()
  #work = 0
  #workDone = 0

  get uploads(): Iterable<Upload> {
    return this.#uploads.values()
  }

  get totals(): Totals {
    return { counts: this.#counts, all: this.#uploads.size, work: this.#work, workDone: this.#workDone }
  }

  get isBusy(): boolean {
    return this.#counts.waiting + this.#counts.sending > 0
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
      if (upload.state === 'waiting') this.#waiting.add(upload)
    }
  }

  /** What to send next; it counts as being sent from now on. */
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
    if (!this.#uploads.has(upload.key)) return
    this.#workDone -= doneOf(upload)
    upload.sent = Math.min(sent, upload.size)
    this.#workDone += doneOf(upload)
  }

  done(upload: Upload): void {
    this.#move(upload, 'done')
  }

  fail(upload: Upload, failure: Failure): void {
    upload.failure = failure
    this.#move(upload, 'failed')
  }

  /** What waits and cannot fare better than `upload` did fails at once. Gives those. */
  failLike(upload: Upload, failure: Failure): Upload[] {
    const alike = [...this.#again, ...this.#waiting].filter((other) =>
      sharesFate(other, upload, failure.kind),
    )
    for (const other of alike) this.fail(other, failure)
    return alike
  }

  /** Back to those that wait, in front. */
  putBack(upload: Upload): void {
    this.#move(upload, 'waiting')
  }

  lose(upload: Upload): void {
    this.#move(upload, 'lost')
  }

  pause(upload: Upload): void {
    if (upload.state === 'waiting' || upload.state === 'sending') this.#move(upload, 'paused')
  }

  /** Lets go on what is paused or failed, as if for the first time. */
  resume(upload: Upload): void {
    if (upload.state !== 'paused' && upload.state !== 'failed' && upload.state !== 'lost') return
    upload.tries = 0
    upload.failure = undefined
    this.#move(upload, 'waiting')
  }

  remove(upload: Upload): void {
    if (!this.#uploads.delete(upload.key)) return
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

  #workFrom(first: Upload): Work {
    if (isBig(first)) return { kind: 'chunks', uploads: [first] }
    if (first.isFolder) return { kind: 'folders', uploads: this.#like(first, MOST_FOLDERS_A_REQUEST) }
    return { kind: 'files', uploads: this.#like(first, MOST_A_REQUEST) }
  }

  /** The upload with those that can go in the same request. */
  #like(first: Upload, most: number): Upload[] {
    const found = [first]
    if (first.isAlone || first.size > SMALL) return found
    let bytes = first.size
    let looked = 0
    for (const set of [this.#again, this.#waiting]) {
      for (const other of set) {
        if (found.length >= most || ++looked > FARTHEST) return found
        if (other === first || !goesWith(other, first)) continue
        if (bytes + other.size > MOST_BYTES_A_REQUEST) return found
        bytes += other.size
        found.push(other)
      }
    }
    return found
  }

  #move(upload: Upload, state: UploadState): void {
    if (!this.#uploads.has(upload.key)) return
    this.#waiting.delete(upload)
    this.#again.delete(upload)
    this.#counts[upload.state] -= 1
    this.#counts[state] += 1
    this.#workDone -= doneOf(upload)
    upload.state = state
    // What was on its way in a request that is no more has not arrived; whole chunks have.
    if (state === 'done') upload.sent = upload.size
    else if (state !== 'sending' && !upload.isBegun) upload.sent = 0
    this.#workDone += doneOf(upload)
    if (state === 'waiting') this.#again.add(upload)
  }
}

const isBig = (upload: Upload) => upload.size > BIG

function goesWith(other: Upload, first: Upload): boolean {
  if (other.libraryId !== first.libraryId || other.isFolder !== first.isFolder) return false
  if (first.isFolder) return true
  const isSamePlace = other.target === first.target && other.folder === first.folder
  return isSamePlace && other.replace === first.replace && other.size <= SMALL && !other.isAlone
}

function sharesFate(other: Upload, met: Upload, kind: FailureKind): boolean {
  if (other.libraryId !== met.libraryId) return false
  // What is smaller may still fit.
  if (kind === 'quota' || kind === 'too-large') return other.size >= met.size && !other.isFolder
  const reach = reachOf(kind)
  return reach === 'library' || (reach === 'folder' && other.target === met.target)
}

const workOf = ({ size }: Upload) => size + WORK_A_FILE

function doneOf(upload: Upload): number {
  // What failed or was lost is nothing that progress waits for.
  if (upload.state === 'done' || upload.state === 'failed') return workOf(upload)
  return upload.sent
}

function noCounts(): Record<UploadState, number> {
  return { waiting: 0, sending: 0, paused: 0, done: 0, failed: 0, lost: 0 }
}
