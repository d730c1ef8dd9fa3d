import type { Commit } from '../../base/objects/index.ts'
import type { Operation } from '../../base/scheduling/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { Content } from '../content/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import type { WorkingTree } from '../tree/index.ts'
import type { NumberedCommit } from './commit-store.ts'

/** A change to a library: a function from tree to tree. It may run again, on a newer head. */
export interface Edit<T> {
  /** The account recorded in the commit. */
  readonly author: string
  /** A visitor of a link makes the change; `author` is the creator of the link. */
  readonly viaLink?: boolean
  /**
   * An upload: it may share a commit with queued uploads of the same author, and of visitors only with those of visitors.
   * Its `apply` must not have changed the tree when it throws.
   */
  readonly isUpload?: boolean
  apply(tree: WorkingTree, library: LibraryInfo): Promise<Edited<T>>
}

/** The result of applying an edit. A commit is created if the tree changed or `always` is set. */
export interface Edited<T> {
  /** The commit's description, in the exact patterns that clients expect. */
  readonly description: string
  readonly result: T
  /** Creates a commit even if the tree is unchanged (a rename of the library). */
  readonly always?: boolean
  /**
   * Rows that must agree with the new head, written in its transaction (I2). A fault or an EditConflict thrown here fails
   * this edit alone.
   */
  readonly also?: (tx: Transaction) => Promise<void>
  /** Names of the files an upload added or replaced. Uploads that share a commit are described by all of them. */
  readonly uploaded?: readonly string[]
  /** The contents of new files. Those of a whole group are written in one batch (I1). */
  readonly contents?: readonly Content[]
  /** Commits of a client. They join the history instead of a new commit, or together with their merge. */
  readonly received?: ReceivedCommits
  /** Columns of the library that `also` changes, for the following edits. */
  readonly library?: Partial<Pick<LibraryInfo, 'name' | 'description' | 'encryption'>>
}

/** Commits that a client sent ahead. They are stored but not part of the history yet. */
export interface ReceivedCommits {
  /** At least one, oldest first, each the parent of the next. */
  readonly chain: readonly Commit[]
  /** Set if the head had moved: the tree of the edit is a merge. `conflict` if it kept two versions of an entry. */
  readonly merge?: { readonly conflict: boolean }
}

/** A committed edit. */
export interface Committed<T> {
  readonly result: T
  /** The library after this edit; for a sub-library, its origin. */
  readonly library: LibraryInfo
  /** The library before this edit. */
  readonly before: LibraryInfo
  /** Undefined if nothing changed. */
  readonly commit: NumberedCommit | undefined
}

/**
 * Data the edit was based on changed before its transaction. Thrown by `apply` or `also`, it fails this edit alone; the
 * caller reads the data again and repeats the edit. It never reaches a surface.
 */
export class EditConflict extends Error {
  override name = 'EditConflict'
}

/** A queued edit and the callbacks that answer its caller. */
export interface QueuedEdit {
  readonly edit: Edit<unknown>
  /** The operation that asked for it. What it relies on must have been kept since that began. */
  readonly operation: Operation | undefined
  resolve(committed: Committed<unknown>): void
  reject(error: unknown): void
}
