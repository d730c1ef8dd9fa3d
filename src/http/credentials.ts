import { detail, type Refusal } from './refusal.ts'
import type { HttpRequest } from './request.ts'
import type { ResponseHeaders } from './response.ts'

/** The result of authenticating an API token. */
export type AuthResult<User> =
  | { readonly kind: 'user'; readonly user: User }
  | { readonly kind: 'unknown' | 'deleted' | 'inactive' | 'wiped' }

/** Authenticates an API token. */
export type Authenticate<User> = (
  apiToken: string,
  request: HttpRequest,
) => AuthResult<User> | Promise<AuthResult<User>>

/** The API token of an `Authorization: Token …` or `Bearer …` header. Throws the refusal clients expect. */
export function readApiToken(header: string | undefined): string {
  const [scheme = '', apiToken, ...more] = (header ?? '').trim().split(/\s+/)
  if (!/^(?:token|bearer)$/i.test(scheme)) throw credentialsMissing()
  if (apiToken === undefined) throw detail(401, 'Invalid token header. No credentials provided.')
  if (more.length > 0) throw detail(401, 'Invalid token header. Token string should not contain spaces.')
  return apiToken
}

/** The refusal for a token without an account. Clients sign out on 401 only. */
export function tokenRefusal(kind: Exclude<AuthResult<unknown>['kind'], 'user'>): Refusal {
  switch (kind) {
    case 'unknown':
      return detail(401, 'Invalid token')
    case 'deleted':
      return detail(401, 'User inactive or deleted')
    case 'inactive':
      return credentialsMissing()
    case 'wiped':
      return detail(401, 'Device set to be remote wiped', wipedHeaders)
  }
}

/** The refusal for an invalid library token, whatever the reason. */
export function libraryTokenRefusal(): Refusal {
  return detail(401, 'Token inactive or deleted')
}

/** The refusal for a route that the account or its credential may not use. */
export function notPermitted(): Refusal {
  return detail(403, 'You do not have permission to perform this action.')
}

const wipedHeaders: ResponseHeaders = { 'X-Seafile-Wiped': 'true' }

function credentialsMissing(): Refusal {
  return detail(403, 'Authentication credentials were not provided.')
}
