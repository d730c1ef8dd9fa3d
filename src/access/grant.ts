import type { Permission, Right } from '../library/index.ts'
import { type LibraryPath, selfAndAbove } from '../objects/index.ts'

/** Whom a share is for. */
export type Grantee = 'user' | 'group' | 'everyone'

/** What a share gives an account: through itself, a group it is in, or because it is for everyone. */
export interface Grant extends Right {
  readonly grantee: Grantee
  /** The account or group; 0 for everyone. */
  readonly granteeKey: number
  /** The folder of the library it is for; the root for all of it. */
  readonly path: LibraryPath
  /** Of the folder's sub-library. */
  readonly subKey: number | undefined
}

/** What grants come to at a folder, and the one that decides. */
export interface Decision extends Right {
  readonly by: Grant
}

const ORDER: readonly Grantee[] = ['user', 'group', 'everyone']

/**
 * The right at a folder: that of the nearest folder at or above it that anything was granted on. There, a share with
 * the user goes before those with groups, of which the best counts, and those before one with everyone. Whoever
 * manages shares must be able to write: nobody gives more than they have.
 */
export function decide(grants: readonly Grant[], folder: LibraryPath): Decision | undefined {
  if (grants.length === 0) return undefined
  for (const path of selfAndAbove(folder)) {
    const here = grants.filter((grant) => grant.path === path)
    for (const grantee of ORDER) {
      const same = here.filter((grant) => grant.grantee === grantee)
      const by = same.find(isWriting) ?? same[0]
      if (by === undefined) continue
      return { permission: by.permission, isAdmin: isWriting(by) && here.some(({ isAdmin }) => isAdmin), by }
    }
  }
  return undefined
}

/** A read-only library is for reading, whoever looks at it. */
export function capped(permission: Permission, { status }: { status: 'normal' | 'read-only' }): Permission {
  return status === 'read-only' ? 'r' : permission
}

function isWriting({ permission }: Grant): boolean {
  return permission === 'rw'
}
