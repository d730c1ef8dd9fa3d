import { baseOf, type LibraryInfo } from '../commits/index.ts'
import type { Library, Permission } from '../library/index.ts'
import type { LibraryId, LibraryPath } from '../objects/index.ts'

/** How a library came within a user's reach. */
export type Via = 'mine' | 'shared' | 'group' | 'public'

/** A library, or a folder shown as one, that a user may read now. */
export interface Readable {
  /** What the user knows it as: the id of the library, or the one its shared folder has. */
  readonly id: LibraryId
  readonly name: string
  readonly ownerKey: number
  readonly encrypted: boolean
  readonly permission: Permission
  readonly via: Via
  /** Where its content is: a library, and the folder there that is its root. */
  readonly libraryKey: number
  readonly base: LibraryPath
  /** Of a folder: what it shows as a library. */
  readonly folder?: LibraryInfo | undefined
}

/** A library that is open, as one of those its reader may read. */
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

/** A sub-library; undefined for a whole library. */
export function folderOf(info: LibraryInfo): LibraryInfo | undefined {
  return info.sub === undefined ? undefined : info
}

/** What a user owns and may read now, of which mostly no more is asked than the keys. */
export interface OwnedReadables {
  /** Of libraries. */
  readonly keys: readonly number[]
  /** Those of some keys. */
  find(keys: readonly number[]): Promise<Readable[]>
}
