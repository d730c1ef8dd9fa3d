/**
 * The origin of a credential. Every derived credential stores its origin and is valid only while all parts of
 * it are: revoking a credential revokes those derived from it.
 */
export interface CredentialOrigin {
  readonly accountKey: number
  /** The epoch of the account when it was issued. Undefined for links, which outlive sessions. */
  readonly epoch: number | undefined
  /** The API token of the caller. */
  readonly apiTokenKey: number | undefined
  /** The personal or library token of the caller. */
  readonly scopedTokenKey: number | undefined
}

/** The fields of an authenticated account that derived credentials depend on. */
export interface Authenticated {
  readonly key: number
  readonly epoch: number
  /** The API token of the request; undefined for none. */
  readonly apiTokenKey?: number | undefined
  readonly scope?: { readonly tokenKey: number } | undefined
}

/** The origin of credentials issued to a caller. */
export function credentialOriginOf({ key, epoch, apiTokenKey, scope }: Authenticated): CredentialOrigin {
  return { accountKey: key, epoch, apiTokenKey, scopedTokenKey: scope?.tokenKey }
}

/**
 * The credential that the caller presented with this request is kept in the account that it authenticated. Its key is a symbol, so that the credential is in no
 * log line and in no JSON.
 */
const presentedCredential = Symbol('presented credential')

/** The actor of a request with the credential that it presented. */
export function presenting<T extends object>(actor: T, credential: string): T {
  return { ...actor, [presentedCredential]: credential }
}

/** The credential of an actor; undefined for one that was only looked up. */
export function presentedBy(actor: object): string | undefined {
  return (actor as { readonly [presentedCredential]?: string })[presentedCredential]
}
