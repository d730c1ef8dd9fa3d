import type { Upload } from './queue.ts'
import type { Source } from './sources.ts'

/** An upload as it survives the end of the page. */
export interface StoredUpload extends Upload {
  readonly account: string
  /** Id of the visit that it belongs to. */
  readonly owner: string
}

/** A new upload with what its bytes can be read from later. */
export interface Recorded {
  readonly record: StoredUpload
  readonly source: Source
}

/**
 * Keeps uploads across pages. Each belongs to a visit: the life of a page. Calls are atomic, and resolve once a crash of the browser would not undo them.
 * They reject if the browser cannot store.
 */
export interface UploadStore {
  /** False if another visit claimed the uploads of `owner`: then nothing is stored. */
  add(owner: string, recorded: readonly Recorded[]): Promise<boolean>
  /** Writes and removes uploads. The sources of those that are done or removed are deleted. False as for `add`. */
  write(owner: string, changed: readonly StoredUpload[], removed: readonly string[]): Promise<boolean>
  /** Moves the uploads of an account from one visit to another. The first one can store nothing from now on. */
  claim(account: string, from: string, to: string): Promise<StoredUpload[]>
  /** The uploads of all visits and accounts, in the order of their keys. */
  records(): Promise<readonly StoredUpload[]>
  /** Sources by the keys of their uploads. */
  source(key: string): Promise<Source | undefined>
  addFile(key: string, file: File): Promise<void>
  /** Deletes the sources, and later the uploads, that other accounts left long ago. */
  expire(account: string, now: number): Promise<void>
}

/** Notices when visits end, and when others record uploads. */
export interface Visits {
  /** Resolves when others can notice the end of this visit, which the returned function announces. */
  begin(owner: string): Promise<() => void>
  /** Calls `act` once the page of a visit is gone. */
  whenEnded(owner: string, act: () => void): void
  /** The visits that go on. */
  others(): Promise<readonly string[]>
  /** Tells other pages that a visit has uploads; undefined that there are none at all. */
  announce(owner: string | undefined): void
  /** Calls a listener when a visit of another page has uploads. */
  onAnnounced(listener: (owner: string) => void): void
}
