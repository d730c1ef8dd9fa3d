import { isUtf8 } from 'node:buffer'
import { detail, type Refusal, type ResponseHeaders, TextRefusal } from '../responses/index.ts'
import type { HttpRequest } from './request.ts'

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

/** What a WebDAV client presents: a name and a password, or a token without a name. */
interface PresentedSecret {
  readonly name: string | undefined
  readonly secret: string
}

/** Authenticates a WebDAV client. May throw faults, such as too-many-tries. */
export type AuthenticateSecret<User> = (
  presented: PresentedSecret,
  request: HttpRequest,
) => Promise<AuthResult<User>>

/**
 * The secret of an `Authorization: Basic …` header (RFC 7617), or the token of `Bearer …`. Throws a refusal that asks for
 * Basic authentication.
 */
export function readSecret(header: string | undefined): PresentedSecret {
  const [, scheme = '', value = ''] = /^\s*([a-z]+)\s+(\S+)\s*$/i.exec(header ?? '') ?? []
  if (/^bearer$/i.test(scheme)) return { name: undefined, secret: value }
  const bytes = /^basic$/i.test(scheme) ? Buffer.from(value, 'base64') : Buffer.alloc(0)
  // Older clients send Latin-1, whatever the charset parameter of the challenge says.
  const text = isUtf8(bytes) ? bytes.toString() : bytes.toString('latin1')
  const colon = text.indexOf(':')
  if (colon < 1) throw secretRefusal()
  return { name: text.slice(0, colon), secret: text.slice(colon + 1) }
}

/** The refusal for a missing or wrong secret. Clients then ask their user for a name and a password. */
export function secretRefusal(): Refusal {
  const challenge = { 'WWW-Authenticate': 'Basic realm="Carrel", charset="UTF-8"' }
  return new TextRefusal(401, 'Sign in with your name and your WebDAV password or a token.', challenge)
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

/** The refusal for a route that the account may not use. */
export function notPermitted(headers?: ResponseHeaders): Refusal {
  return detail(403, 'You do not have permission to perform this action.', headers)
}

/** RFC 6750, 3.1: "insufficient_scope: The request requires higher privileges than provided by the access token." */
const scopeHeaders: ResponseHeaders = { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' }

/** The refusal for a route that the account may use, but not with this token. */
export function outOfScope(): Refusal {
  return notPermitted(scopeHeaders)
}

const wipedHeaders: ResponseHeaders = { 'X-Seafile-Wiped': 'true' }

function credentialsMissing(): Refusal {
  return detail(403, 'Authentication credentials were not provided.')
}

/** The credentials of a caller without an account. */
interface VisitorCredentials {
  readonly address: string
  /** The key for rate limits. */
  readonly network: string
  readonly password: string | undefined
  readonly cookie: string | undefined
  /** Set if the visitor has an account. */
  readonly apiToken: string | undefined
}

/** Reads the cookie `cookieName`, and a password from the header `X-Link-Password` or the query. */
export function readVisitorCredentials(request: HttpRequest, cookieName: string): VisitorCredentials {
  const { headers } = request
  const [, apiToken] = /^(?:token|bearer)\s+(\S+)$/i.exec(headers.authorization?.trim() ?? '') ?? []
  const header = headers['x-link-password']
  return {
    address: request.address,
    network: request.network,
    password: typeof header === 'string' ? header : request.queryFields.text('password'),
    cookie: cookieOf(headers.cookie, cookieName),
    apiToken,
  }
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  const found = header?.split(';').find((pair) => pair.trim().startsWith(`${name}=`))
  return found?.trim().slice(name.length + 1)
}
