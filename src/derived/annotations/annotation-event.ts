import type { LibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'

/** An account that is notified of a comment, and the file as it sees it. */
export interface CommentRecipient {
  readonly accountKey: number
  readonly library: { readonly id: LibraryId; readonly name: string }
  readonly path: LibraryPath
  /** Whether the comment mentions the account. */
  readonly mentioned: boolean
}

/** The comments on a file changed, or its tags, or the tags of the library, for which the path is the root. */
export interface AnnotationEvent {
  readonly kind: 'comment' | 'tag'
  /** The origin. */
  readonly library: LibraryInfo
  readonly path: LibraryPath
  readonly author: { readonly email: string }
  /** The accounts to notify of a new comment. Empty for other changes. */
  readonly recipients: readonly CommentRecipient[]
}
