import type { LibraryId, LibraryPath } from '../objects/index.ts'

/** A share link is to read by, an upload link to add by. */
export type LinkKind = 'share' | 'upload'

/** Who may open a link: whoever holds it, or the people it names. */
export const linkScopes = ['all_users', 'specific_users', 'specific_emails'] as const
export type LinkScope = (typeof linkScopes)[number]

/** What a share link lets its holder do. */
export interface LinkRights {
  readonly canEdit: boolean
  readonly canDownload: boolean
  readonly canUpload: boolean
}

/** A grant to whoever holds the URL, on one file or folder. */
export interface Link {
  readonly key: number
  readonly token: string
  readonly kind: LinkKind
  /** Who made it; it can do no more than they can now. */
  readonly accountKey: number
  readonly libraryKey: number
  /** Of the sub-library it was made in: it opens nothing else of the library. */
  readonly subKey: number | undefined
  /** Where what was shared is in the library, or was last. */
  readonly place: LibraryPath
  /** The same, as the sub-library shows it, if it was made in one. */
  readonly path: LibraryPath
  readonly isDir: boolean
  /** What was shared is gone for good; something else may be at the path by now. */
  readonly isGone: boolean
  /** Encrypted. */
  readonly password: Uint8Array | undefined
  /** Unix seconds; undefined for never. */
  readonly expiresAt: number | undefined
  readonly rights: LinkRights
  readonly scope: LinkScope
  /** Of the people it is for, unless it is for all. */
  readonly emails: readonly string[]
  readonly description: string
  readonly views: number
  /** False while its maker has switched it off. */
  readonly active: boolean
  /** Grows with each change; tickets given out before end. */
  readonly epoch: number
  /** The personal or library token it was made with: it ends with that, and stays within its bounds. */
  readonly scopedTokenKey: number | undefined
  /** Unix seconds. */
  readonly createdAt: number
  /** The account id of who made it. */
  readonly creator: string
  /** Of what it was made in: the library, or the sub-library. */
  readonly libraryId: LibraryId
  readonly libraryName: string
}

/** What can be chosen when a link is made. */
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

/** What can be changed of a link; what is left out stays. */
export interface LinkChanges {
  /** Null takes the expiry away. */
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

/** Whether it leads anywhere, as far as the link itself knows. */
export function isUsable(link: Pick<Link, 'expiresAt' | 'active' | 'isGone'>, now: number): boolean {
  return link.active && !link.isGone && !isExpired(link, now)
}
