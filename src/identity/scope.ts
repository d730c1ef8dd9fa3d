/** What a scoped token lets its holder do with libraries. */
export type ScopeAccess = 'read' | 'write' | 'upload'

/**
 * The bounds of the credential a request came with. An account without one acts with all its rights; with
 * one it never acts as the owner of a library, and never on the account itself.
 */
export interface Scope {
  readonly access: ScopeAccess
  /** The one library it opens; undefined for all the account can open. */
  readonly libraryKey: number | undefined
  /** Of the sub-library, if that is all of the library it opens. */
  readonly subKey: number | undefined
  /** The id of that library or sub-library. */
  readonly libraryId: string | undefined
  /** The token it comes from; what is handed out on its behalf ends with it. */
  readonly tokenKey: number
}

/** What a route asks of a scoped token: `any` takes all of them, `none` takes none. */
export type ScopeNeeded = 'none' | 'any' | ScopeAccess

/** Whether a credential is let into a route at all. What it may do there is decided by access. */
export function scopeAdmits(scope: Scope | undefined, needed: ScopeNeeded): boolean {
  if (scope === undefined) return true
  if (needed === 'none' || needed === 'any') return needed === 'any'
  // Whoever may write may also upload, and may read; whoever may only upload may do nothing else.
  if (scope.access === 'write') return true
  return scope.access === needed
}

/** Whether a credential reaches a library. One for a library reaches its folders, one for a folder nothing around it. */
export function scopeReaches(
  scope: Scope | undefined,
  library: { readonly key: number; readonly sub?: { readonly key: number } | undefined },
): boolean {
  if (scope?.libraryKey === undefined) return true
  if (scope.libraryKey !== library.key) return false
  return scope.subKey === undefined || scope.subKey === library.sub?.key
}
