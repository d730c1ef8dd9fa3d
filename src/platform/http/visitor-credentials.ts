import type { HttpRequest } from './request.ts'

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
