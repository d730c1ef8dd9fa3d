import type { Role } from './account.ts'

/** Actions that a role permits. Actions within a library depend on the permission there. */
export type RoleAction =
  | 'add-library'
  | 'share'
  | 'add-group'
  | 'make-share-link'
  | 'make-upload-link'
  | 'see-public-libraries'
  | 'publish-library'
  /** Find people that it shares nothing with. */
  | 'search-people'

const ordinary: readonly RoleAction[] = [
  'add-library',
  'share',
  'add-group',
  'make-share-link',
  'make-upload-link',
  'see-public-libraries',
  'search-people',
]

const allowed: Record<Role, ReadonlySet<RoleAction>> = {
  guest: new Set(),
  default: new Set(ordinary),
  admin: new Set<RoleAction>([...ordinary, 'publish-library']),
}

export function roleAllows(role: Role, action: RoleAction): boolean {
  return allowed[role].has(action)
}
