/**
 * What a credential was derived from. Every credential that is handed out on behalf of another one stores its origin, and is
 * valid only as long as all of it is: revoking the cause revokes what was derived from it.
 */
export interface CredentialOrigin {
  readonly accountKey: number
  /** The epoch of the account at issue. Undefined for what does not end with the sign-ins of the account: a link. */
  readonly epoch: number | undefined
  /** The API token the caller came with. */
  readonly apiTokenKey: number | undefined
  /** The personal or library token the caller came with. */
  readonly scopedTokenKey: number | undefined
}

/** An account as it was authenticated, as far as what it hands out depends on it. */
export interface Authenticated {
  readonly key: number
  readonly epoch: number
  /** The API token it came with; undefined for none. */
  readonly apiTokenKey?: number | undefined
  readonly scope?: { readonly tokenKey: number } | undefined
}

/** The origin of what is handed out to a caller. */
export function credentialOriginOf({ key, epoch, apiTokenKey, scope }: Authenticated): CredentialOrigin {
  return { accountKey: key, epoch, apiTokenKey, scopedTokenKey: scope?.tokenKey }
}
