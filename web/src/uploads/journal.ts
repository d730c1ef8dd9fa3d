import { type Clock, pause } from './network.ts'
import { storedState, type Upload } from './queue.ts'
import type { Source } from './sources.ts'
import type { StoredUpload, UploadStore } from './upload-store.ts'

/** Files up to this size are copied before the drop is acknowledged, so that a crash loses nothing of them. */
const COPIED_AT_ONCE = 1_000_000
/** Larger files are not copied. Later they are opened by a handle, or selected again. */
const LARGEST_COPIED = 50_000_000
const MAX_COPIED_BYTES = 500_000_000
/** Files that are stored on the server sooner are not copied. */
const COPIED_AFTER_MS = 1000
/** Copying as fast as possible would take half of the CPU time of the uploads. */
const BYTES_PER_TURN = 20_000_000
const BETWEEN_TURNS_MS = 500

interface JournalParts {
  readonly store: UploadStore
  readonly clock: Clock
  readonly account: string
  /** Id of the visit. */
  readonly owner: string
  /** Undefined once it is not needed any more. */
  readonly fileOf: (upload: Upload) => File | undefined
  /** Another visit has claimed the uploads, because this page seemed to be gone. */
  readonly onClaimed: () => void
  readonly onChange: () => void
}

/** Records the uploads of a visit, so that another one can go on with them. */
export class Journal {
  readonly #parts: JournalParts
  /** Uploads to write. Undefined removes one. */
  readonly #changed = new Map<string, Upload | undefined>()
  /** Keys of the uploads that the store has, or is about to have. */
  readonly #recorded = new Set<string>()
  /** Files to copy, the next one last. */
  readonly #uncopied: Upload[] = []
  readonly #copied = new Map<string, number>()
  #copiedBytes = 0
  #writing: Promise<void> | undefined
  #isCopying = false
  #hasEnded = false
  /** Whether the browser cannot store: then uploads end with the page. */
  isVolatile = false

  constructor(parts: JournalParts) {
    this.#parts = parts
  }

  /** Resolves once new uploads would survive the end of the page, or cannot. */
  async add(uploads: readonly Upload[], sources: ReadonlyMap<string, Source>): Promise<void> {
    const { store, owner } = this.#parts
    this.claimed(uploads)
    const recorded = uploads.map((upload) => ({
      record: this.#stored(upload),
      source: this.#sourceAtOnce(upload, sources.get(upload.key) ?? {}),
    }))
    try {
      const withoutFiles = () =>
        recorded.map(({ record, source: { handle } }) => ({ record, source: handle ? { handle } : {} }))
      // There may be no space for the files.
      const isOwner = await store.add(owner, recorded).catch(() => store.add(owner, withoutFiles()))
      this.isVolatile = false
      if (!isOwner) this.#end()
    } catch {
      this.isVolatile = true
    }
    void this.#copy()
  }

  /** Uploads that the store has already. */
  claimed(uploads: readonly Upload[]): void {
    for (const { key } of uploads) this.#recorded.add(key)
  }

  /** Records a change. */
  note(upload: Upload): void {
    if (upload.state === 'done') this.#release(upload.key)
    this.#changed.set(upload.key, upload)
    this.#begin()
  }

  remove({ key }: Pick<Upload, 'key'>): void {
    if (!this.#recorded.delete(key)) return
    this.#release(key)
    this.#changed.set(key, undefined)
    this.#begin()
  }

  /** Removes all uploads. False if there are none. */
  removeAll(): boolean {
    if (this.#recorded.size === 0) return false
    for (const key of this.#recorded) this.remove({ key })
    return true
  }

  /** Resolves once all changes are stored, or cannot be. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  /** The visit ends: nothing more is recorded. */
  end(): Promise<void> {
    this.#hasEnded = true
    this.#uncopied.length = 0
    return this.settled()
  }

  #begin(): void {
    if (this.#hasEnded) return
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
  }

  async #write(): Promise<void> {
    const { store, owner } = this.#parts
    // Changes of one turn are written together.
    await Promise.resolve()
    while (this.#changed.size > 0) {
      const batch = [...this.#changed]
      this.#changed.clear()
      const changed = batch.flatMap(([, upload]) => (upload === undefined ? [] : [this.#stored(upload)]))
      const removed = batch.flatMap(([key, upload]) => (upload === undefined ? [key] : []))
      try {
        const isOwner = await store.write(owner, changed, removed)
        this.isVolatile = false
        if (!isOwner) return this.#end()
      } catch {
        // Written with the next change.
        for (const [key, upload] of batch) if (!this.#changed.has(key)) this.#changed.set(key, upload)
        if (!this.isVolatile) this.#parts.onChange()
        this.isVolatile = true
        return
      }
    }
  }

  #end(): void {
    if (this.#hasEnded) return
    void this.end()
    this.#parts.onClaimed()
  }

  #sourceAtOnce(upload: Upload, { file, handle }: Source): Source {
    const isNow = file !== undefined && file.size <= COPIED_AT_ONCE && this.#hasRoom(upload)
    if (isNow) this.#count(upload)
    else if (file !== undefined && file.size <= LARGEST_COPIED) this.#uncopied.push(upload)
    // A file that is copied needs no handle.
    return isNow ? { file } : handle ? { handle } : {}
  }

  async #copy(): Promise<void> {
    const { store, clock, fileOf } = this.#parts
    if (this.#isCopying) return
    this.#isCopying = true
    await pause(clock, COPIED_AFTER_MS)
    let bytes = 0
    // The last ones first: the first ones are uploaded soon.
    for (let upload = this.#uncopied.pop(); upload !== undefined; upload = this.#uncopied.pop()) {
      const file = fileOf(upload)
      if (file === undefined || !this.#hasRoom(upload)) continue
      this.#count(upload)
      await store.addFile(upload.key, file).catch(() => this.#release(upload.key))
      bytes += upload.size
      if (bytes < BYTES_PER_TURN) continue
      bytes = 0
      await pause(clock, BETWEEN_TURNS_MS)
    }
    this.#isCopying = false
  }

  #hasRoom({ size }: Upload): boolean {
    return this.#copiedBytes + size <= MAX_COPIED_BYTES
  }

  #count({ key, size }: Upload): void {
    this.#copied.set(key, size)
    this.#copiedBytes += size
  }

  #release(key: string): void {
    this.#copiedBytes -= this.#copied.get(key) ?? 0
    this.#copied.delete(key)
  }

  #stored(upload: Upload): StoredUpload {
    const { account, owner } = this.#parts
    return { ...upload, state: storedState(upload.state), account, owner }
  }
}
