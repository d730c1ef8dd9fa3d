import type { CommitId, DirId, LibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { LibraryEncryption } from '../content/index.ts'
import type { StoredDir } from '../tree/index.ts'

type LibraryStatus = 'normal' | 'read-only'

/** Identifies a library in a list, with its status. */
export type LibraryName = Pick<LibrarySummary, 'key' | 'id' | 'name' | 'status' | 'encrypted'>

/** The columns that lists of libraries show. Reading only these makes listing three times as fast. */
export interface LibrarySummary {
  readonly key: number
  readonly id: LibraryId
  readonly name: string
  readonly head: CommitId
  readonly size: number
  readonly updatedAt: number
  readonly modifier: string
  readonly modifierViaLink: boolean
  readonly status: LibraryStatus
  readonly encrypted: boolean
  readonly salt: string
}

/** The location of a sub-library's content. */
export interface SubLibrary {
  readonly key: number
  readonly id: LibraryId
  /** The origin, and the folder or file it shows. */
  readonly libraryKey: number
  readonly path: LibraryPath
  /** It shows one file, which is the only entry of its root. */
  readonly isFile: boolean
  /** The first commit it shows. */
  readonly sinceSeq: number
  /** Hex; checks the password of an encrypted library for the id of the view. */
  readonly passwordCheck: string | undefined
}

/**
 * A snapshot of a library's row: its head and everything that changes with the head. Of a sub-library: the
 * same as seen in the view, with the key of the origin.
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
  /** The root of a view of one file. No commit contains this dir, so it is not stored. */
  readonly rootDir?: StoredDir | undefined
  /** Bytes of all files in the head's tree. */
  readonly size: number
  readonly fileCount: number
  /** Time of the head commit, Unix seconds. */
  readonly updatedAt: number
  /** The author of the head commit. */
  readonly modifier: string
  /** A visitor of a link made the head commit; `modifier` is the creator of the link. */
  readonly modifierViaLink: boolean
  readonly status: LibraryStatus
  readonly encryption: LibraryEncryption | undefined
  /** Days of history kept: negative for all, 0 for none, null for the server's default. */
  readonly historyDays: number | null
  /** The owner purged history and trash before this commit number. */
  readonly validSinceSeq: number
  readonly createdAt: number
  readonly deletedAt: number | null
  /** Incremented by each deletion, so that credentials issued before it stay revoked after a restore. */
  readonly epoch: number
  /** Incremented when stored objects or blocks of the library are deleted or corrected, so that other processes do not serve them from their caches. */
  readonly objectsEpoch: number
  /** For a sub-library: the folder it shows, and its origin. */
  readonly sub: (SubLibrary & { readonly origin: LibraryInfo }) | undefined
}
