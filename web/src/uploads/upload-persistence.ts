import type { Upload } from './queue.ts'
import type { Source } from './sources.ts'
import { clearFlagIfEmpty, deleteUploads, type StoredUpload, storeUploads, thisTab } from './upload-store.ts'

/** Larger files are not copied to IndexedDB. After a reload they are opened by a handle or selected again. */
export const LARGEST_COPIED = 50_000_000
const MAX_BYTES = 500_000_000
const SOON_MS = 200
/** Pause between the turns of a long queue. Writing as fast as possible would take half of the CPU time of the uploads. */
const BETWEEN_TURNS_MS = 500
/** Uploads that finish sooner are not copied. */
const COPIED_AFTER_MS = 1000
const A_TURN = { uploads: 200, bytes: 20_000_000 }

/**
 * Stores unfinished uploads in IndexedDB. Writes are debounced and never block uploads. The end of the queue is written
 * first: its front is uploaded before it could be stored, and whatever was never stored needs no deletion.
 */
export class UploadPersistence {
  readonly #sourceOf: (upload: Upload) => Source
  readonly #changed = new Set<Upload>()
  /** Keys of uploads that IndexedDB has, or is about to have. */
  readonly #stored = new Set<string>()
  readonly #ended = new Set<string>()
  readonly #uncopied = new Set<Upload>()
  readonly #copied = new Map<string, number>()
  #copiedBytes = 0
  #account = ''
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(sourceOf: (upload: Upload) => Source) {
    this.#sourceOf = sourceOf
  }

  set account(email: string) {
    this.#account = email
    this.#soon()
  }

  /** Uploads that an earlier page stored. */
  restored(uploads: readonly Upload[]): void {
    for (const { key } of uploads) this.#stored.add(key)
  }

  /** Records a new upload, or a change that must survive a reload. */
  put(upload: Upload): void {
    // Moves it to the end, which is written first.
    this.#changed.delete(upload)
    this.#changed.add(upload)
    if (this.#isCopyable(upload)) this.#uncopied.add(upload)
    this.#soon()
  }

  /** Like `put`, but writes immediately, because losing this would resend much. */
  putNow(upload: Upload): void {
    this.put(upload)
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#account !== '') this.#begin()
  }

  end(upload: Upload): void {
    this.#changed.delete(upload)
    this.#uncopied.delete(upload)
    this.#copiedBytes -= this.#copied.get(upload.key) ?? 0
    this.#copied.delete(upload.key)
    if (!this.#stored.delete(upload.key)) return
    this.#ended.add(upload.key)
    this.#soon()
  }

  /** Drops pending writes. Stored uploads stay. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#changed.clear()
    this.#uncopied.clear()
    this.#copied.clear()
    this.#copiedBytes = 0
    this.#stored.clear()
    this.#ended.clear()
    this.#account = ''
  }

  #isCopyable(upload: Upload): boolean {
    const { file } = this.#sourceOf(upload)
    return file !== undefined && file.size <= LARGEST_COPIED && !this.#copied.has(upload.key)
  }

  #soon(ms = SOON_MS): void {
    if (this.#account === '') return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#begin()
    }, ms)
  }

  #begin(): void {
    // If the browser cannot store, uploads go on but do not survive a reload.
    this.#writing = this.#writing
      .then(() => this.#write())
      .catch(() => {
        this.#uncopied.clear()
      })
  }

  async #write(): Promise<void> {
    const tab = await thisTab()
    const account = this.#account
    if (account === '') return
    const ended = [...this.#ended]
    this.#ended.clear()
    await deleteUploads(ended)
    const written = this.#nextTurn()
    for (const { key } of written) this.#stored.add(key)
    await storeUploads(
      written.map((upload) => this.#storedUpload(upload, account, tab, this.#copied.has(upload.key))),
    )
    if (this.#changed.size + this.#ended.size + this.#uncopied.size > 0) this.#soon(BETWEEN_TURNS_MS)
    else if (this.#copied.size === 0 && ended.length > 0) await clearFlagIfEmpty()
  }

  /** The next uploads to write, each of them once. */
  #nextTurn(): Upload[] {
    const changed = [...this.#changed].toReversed()
    const turn = new Set<Upload>()
    // First those that no copy will follow: large files, and changes of their state.
    for (const upload of changed.filter((one) => !this.#uncopied.has(one)).slice(0, A_TURN.uploads)) {
      turn.add(upload)
    }
    for (const upload of this.#toCopy()) turn.add(upload)
    for (const upload of changed) {
      if (turn.size >= A_TURN.uploads) break
      turn.add(upload)
    }
    for (const upload of turn) this.#changed.delete(upload)
    return [...turn]
  }

  #toCopy(): Upload[] {
    const now = Date.now()
    const found: Upload[] = []
    let bytes = 0
    for (const upload of [...this.#uncopied].toReversed()) {
      if (now - upload.addedAt < COPIED_AFTER_MS) continue
      if (found.length >= A_TURN.uploads || bytes > A_TURN.bytes) break
      this.#uncopied.delete(upload)
      if (this.#copiedBytes + upload.size > MAX_BYTES) continue
      bytes += upload.size
      found.push(upload)
      this.#copied.set(upload.key, upload.size)
      this.#copiedBytes += upload.size
    }
    return found
  }

  #storedUpload(upload: Upload, account: string, tab: string, withFile: boolean): StoredUpload {
    const { file, handle } = this.#sourceOf(upload)
    return {
      ...upload,
      account,
      tab,
      ...(handle && { handle }),
      ...(withFile && file && { file }),
    }
  }
}
