import type { LibraryEncryption } from '../content/index.ts'
import type { CommitId, DirId, LibraryId, LibraryPath } from '../objects/index.ts'

export type LibraryStatus = 'normal' | 'read-only'

/** Identifies a library in a list, with its status. */
export type LibraryName = Pick<LibrarySummary, 'key' | 'id' | 'name' | 'status' | 'encrypted'>

/** What lists of libraries show; reading no more than this makes them three times as fast. */
export interface LibrarySummary {
  readonly key: number
  readonly id: LibraryId
  readonly name: string
  readonly head: CommitId
  readonly size: number
  readonly updatedAt: number
  readonly modifier: string
  readonly status: LibraryStatus
  readonly encrypted: boolean
  readonly salt: string
}

/** Where the content of a sub-library is. */
export interface SubLibrary {
  readonly key: number
  readonly id: LibraryId
  /** The library whose folder it shows, and that folder. */
  readonly libraryKey: number
  readonly path: LibraryPath
  /** The first commit it shows. */
  readonly sinceSeq: number
}

/**
 * A snapshot of a library's row: its head and everything that changes with the head. Of a sub-library: what
 * its holder sees, with the key of the library that has its content.
 */
export interface LibraryInfo {
  readonly key: number
  readonly id: LibraryId
  readonly ownerKey: number
  readonly name: string
  readonly description: string
  readonly head: CommitId
  /** The number of the head commit; commits are numbered from 1 without gaps. */
  readonly headSeq: number
  readonly root: DirId
  /** Bytes of all files of the head's tree. */
  readonly size: number
  readonly fileCount: number
  /** Time of the head commit, Unix seconds. */
  readonly updatedAt: number
  /** Account of the head commit. */
  readonly modifier: string
  readonly status: LibraryStatus
  readonly encryption: LibraryEncryption | undefined
  /** Days of history kept: negative all, 0 none; null means the server's default. */
  readonly historyDays: number | null
  /** History and trash before this commit number were emptied by the owner. */
  readonly validSinceSeq: number
  readonly createdAt: number
  readonly deletedAt: number | null
  /** Incremented by each deletion, so that credentials issued before it stay revoked after a restore. */
  readonly epoch: number
  /** Of a sub-library: the folder it shows, and the library that has it. */
  readonly sub: (SubLibrary & { readonly origin: LibraryInfo }) | undefined
}
