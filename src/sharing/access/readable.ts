import type { LibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { Library, Permission } from '../../libraries/library/index.ts'
import { baseOf, type LibraryInfo } from '../../libraries/registry/index.ts'

/** How a user has access to a library. */
type Via = 'mine' | 'shared' | 'group' | 'public'

declare const granted: unique symbol

/** A library, or a shared folder or file shown as one, that a user may read. Only this module makes one: like a handle, it proves the right. */
export interface Readable {
  readonly [granted]: true
  /** The id the user sees: that of the library, or of the sub-library for a shared folder or file. */
  readonly id: LibraryId
  readonly name: string
  readonly ownerKey: number
  readonly encrypted: boolean
  readonly permission: Permission
  readonly via: Via
  /** The location of its content: a library and the root folder, or the only file, within it. */
  readonly libraryKey: number
  readonly base: LibraryPath
  /** `base` is a shared file. */
  readonly isFile: boolean
  /** The sub-library, for a folder or file. */
  readonly folder?: LibraryInfo | undefined
}

/** For files of this module: what a check has permitted. */
export function permitted(what: Omit<Readable, typeof granted>): Readable {
  return what as Readable
}

/** Converts an open library. */
export function readableOf({ info, isOwner, permission }: Library): Readable {
  return permitted({
    id: info.id,
    name: info.name,
    ownerKey: info.ownerKey,
    encrypted: info.encryption !== undefined,
    permission,
    via: isOwner ? 'mine' : 'shared',
    libraryKey: info.key,
    ...placeOf(info),
  })
}

/** The part of its origin that a library or sub-library shows. */
export function placeOf(info: LibraryInfo): Pick<Readable, 'base' | 'isFile' | 'folder'> {
  const folder = info.sub === undefined ? undefined : info
  return { base: baseOf(info), isFile: info.sub?.isFile === true, folder }
}

/** The libraries a user owns and may read. Most callers need only the keys. */
export interface OwnedReadables {
  /** Library keys. */
  readonly keys: readonly number[]
  /** Those with the given keys. */
  find(keys: readonly number[]): Promise<Readable[]>
}
