import type { LibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'

/** A share link permits reading, an upload link adding files. */
export type LinkKind = 'share' | 'upload'

/** Who may open a link: anyone with the URL, or named people. */
export const linkScopes = ['all_users', 'specific_users', 'specific_emails'] as const
export type LinkScope = (typeof linkScopes)[number]

/** The rights that a share link grants. */
export interface LinkRights {
  readonly canEdit: boolean
  readonly canDownload: boolean
  readonly canUpload: boolean
}

/** A grant on one file or folder to anyone with the URL. */
export interface Link {
  readonly key: number
  readonly token: string
  readonly kind: LinkKind
  /** The creator. The link permits no more than the creator may do now. */
  readonly accountKey: number
  readonly libraryKey: number
  /** The sub-library it was created in. It opens nothing else of the library. */
  readonly subKey: number | undefined
  /** The current or last path of the shared item in the library. */
  readonly place: LibraryPath
  /** The same path within the sub-library, if it was created in one. */
  readonly path: LibraryPath
  readonly isDir: boolean
  /** The shared item was deleted for good. Another item may have the path now. */
  readonly isGone: boolean
  /** Encrypted. */
  readonly password: Uint8Array | undefined
  /** Unix seconds; undefined for never. */
  readonly expiresAt: number | undefined
  readonly rights: LinkRights
  readonly scope: LinkScope
  /** The people it is for, unless it is for everyone. */
  readonly emails: readonly string[]
  readonly description: string
  readonly views: number
  /** False while its creator has disabled it. */
  readonly active: boolean
  /** Incremented by each change, which revokes the tickets issued before. */
  readonly epoch: number
  /** The scoped token it was created with. It ends with that token and stays within its scope. */
  readonly scopedTokenKey: number | undefined
  /** Unix seconds. */
  readonly createdAt: number
  /** The account id of the creator. */
  readonly creator: string
  /** The library or sub-library it was created in. */
  readonly libraryId: LibraryId
  readonly libraryName: string
}

/** Options for a new link. */
export interface LinkOptions {
  readonly kind: LinkKind
  readonly path: LibraryPath
  readonly password?: string | undefined
  readonly expiresAt?: number | undefined
  readonly rights?: LinkRights
  readonly scope?: LinkScope
  readonly emails?: readonly string[]
  readonly description?: string
}

/** Changes of a link; omitted fields stay as they are. */
export interface LinkChanges {
  /** Null removes the password. */
  readonly password?: string | null | undefined
  /** Null removes the expiry. */
  readonly expiresAt?: number | null | undefined
  readonly rights?: LinkRights | undefined
  readonly scope?: LinkScope | undefined
  readonly emails?: readonly string[] | undefined
  readonly description?: string | undefined
  readonly active?: boolean | undefined
}

export const readingRights: LinkRights = { canEdit: false, canDownload: true, canUpload: false }
export const uploadRights: LinkRights = { canEdit: false, canDownload: false, canUpload: true }

export function isExpired(link: Pick<Link, 'expiresAt'>, now: number): boolean {
  return link.expiresAt !== undefined && link.expiresAt <= now
}

/** Whether the link itself is neither expired, disabled nor dead. The library is not checked. */
export function isUsable(link: Pick<Link, 'expiresAt' | 'active' | 'isGone'>, now: number): boolean {
  return link.active && !link.isGone && !isExpired(link, now)
}
