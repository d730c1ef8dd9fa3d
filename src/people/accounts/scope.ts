/** The operations on libraries that a scoped token permits. */
type ScopeAccess = 'read' | 'write' | 'upload'

/**
 * The restriction of a request's credential. Without one, an account acts with all its rights. With one it
 * never acts as the owner of a library, and never on the account itself.
 */
export interface Scope {
  readonly access: ScopeAccess
  /** The only library it gives access to; undefined for all libraries of the account. */
  readonly libraryKey: number | undefined
  /** The sub-library, if access is restricted to one. */
  readonly subKey: number | undefined
  /** The id of that library or sub-library. */
  readonly libraryId: string | undefined
  /** The token it comes from. Credentials derived from it end with it. */
  readonly tokenKey: number
}

/** The scope a route requires of a scoped token: `any` admits all, `none` admits none. */
type ScopeNeeded = 'none' | 'any' | ScopeAccess

/** Whether a route admits the credential. The access check decides what it may do there. */
export function scopeAdmits(scope: Scope | undefined, needed: ScopeNeeded): boolean {
  if (scope === undefined) return true
  if (needed === 'none' || needed === 'any') return needed === 'any'
  // Write scope includes uploading and reading. Upload scope includes nothing else.
  if (scope.access === 'write') return true
  return scope.access === needed
}

/**
 * Whether a credential applies to a library. One for a library covers its folders; one for a folder covers
 * only that folder.
 */
export function scopeReaches(
  scope: Scope | undefined,
  library: { readonly key: number; readonly sub?: { readonly key: number } | undefined },
): boolean {
  if (scope?.libraryKey === undefined) return true
  if (scope.libraryKey !== library.key) return false
  return scope.subKey === undefined || scope.subKey === library.sub?.key
}
