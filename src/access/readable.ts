import { baseOf, type LibraryInfo } from '../commits/index.ts'
import type { Library, Permission } from '../library/index.ts'
import type { LibraryId, LibraryPath } from '../objects/index.ts'

/** How a user has access to a library. */
type Via = 'mine' | 'shared' | 'group' | 'public'

/** A library, or a shared folder shown as one, that a user may read. */
export interface Readable {
  /** The id the user sees: that of the library, or of the sub-library for a shared folder. */
  readonly id: LibraryId
  readonly name: string
  readonly ownerKey: number
  readonly encrypted: boolean
  readonly permission: Permission
  readonly via: Via
  /** The location of its content: a library and the root folder within it. */
  readonly libraryKey: number
  readonly base: LibraryPath
  /** The sub-library, for a folder. */
  readonly folder?: LibraryInfo | undefined
}

/** Converts an open library. */
export function readableOf({ info, isOwner, permission }: Library): Readable {
  return {
    id: info.id,
    name: info.name,
    ownerKey: info.ownerKey,
    encrypted: info.encryption !== undefined,
    permission,
    via: isOwner ? 'mine' : 'shared',
    libraryKey: info.key,
    base: baseOf(info),
    folder: folderOf(info),
  }
}

/** The argument if it is a sub-library; undefined for a whole library. */
export function folderOf(info: LibraryInfo): LibraryInfo | undefined {
  return info.sub === undefined ? undefined : info
}

/** The libraries a user owns and may read. Most callers need only the keys. */
export interface OwnedReadables {
  /** Library keys. */
  readonly keys: readonly number[]
  /** Those with the given keys. */
  find(keys: readonly number[]): Promise<Readable[]>
}
