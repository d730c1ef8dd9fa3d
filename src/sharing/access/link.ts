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

/** What an upload link asks of its visitors. */
export interface FileRequest {
  /** The heading of the page. Empty: the name of the folder. */
  readonly heading: string
  /** Whether visitors say who they are. */
  readonly name: 'no' | 'optional' | 'required'
  /** Whether visitors can write a message to the creator of the link. */
  readonly message: boolean
  /** The files that are wanted, by name or description. */
  readonly files: readonly string[]
  /** No upload is accepted from then on. Unix seconds; undefined for never. */
  readonly deadline: number | undefined
  /** Whether the files of each visitor go into a folder with their name. */
  readonly folders: boolean
}

/** How the visitor of an upload link introduced themself. */
export interface Sender {
  readonly name: string
  readonly message: string
  /** The folder below that of the link that their files go into. */
  readonly folder: LibraryPath
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
  /** Undefined for a share link, and for an upload link that asks nothing. */
  readonly request: FileRequest | undefined
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
  /** Only of an upload link. */
  readonly request?: FileRequest | undefined
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
  /** Null asks nothing any more. */
  readonly request?: FileRequest | null | undefined
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
