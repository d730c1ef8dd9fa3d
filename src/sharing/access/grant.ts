import { type LibraryPath, selfAndAbove } from '../../base/paths/index.ts'
import type { Permission, Right } from '../../libraries/library/index.ts'

/** The kind of grantee. */
export type Grantee = 'user' | 'group' | 'everyone'

/** A grant for an account: direct, through a group, or with everyone. */
export interface Grant extends Right {
  readonly grantee: Grantee
  /** The account or group; 0 for everyone. */
  readonly granteeKey: number
  /** The folder it applies to; the root for a whole library. */
  readonly path: LibraryPath
  /** The sub-library of the folder. */
  readonly subKey: number | undefined
}

/** The effective right at a folder, and the grant that decides. */
export interface Decision extends Right {
  readonly by: Grant
}

const ORDER: readonly Grantee[] = ['user', 'group', 'everyone']

/**
 * The effective right at a folder. The nearest folder at or above it that has grants decides. There, a direct
 * share takes precedence over group shares, of which the strongest counts, and those over one with everyone.
 * Managing shares requires write permission: nobody can grant more than they have.
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

/** A read-only library caps every permission at `r`. */
export function capped(permission: Permission, { status }: { status: 'normal' | 'read-only' }): Permission {
  return status === 'read-only' ? 'r' : permission
}

function isWriting({ permission }: Grant): boolean {
  return permission === 'rw'
}
