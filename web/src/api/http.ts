import {
  type CallOptions,
  CarrelError,
  Connection,
  type ResponseOf,
  type Responses,
} from '../../../sdk/src/index.ts'
import { siteUrl } from '../site-url.ts'
import { visitedLink } from '../visited-link.ts'
import { takeFirstResponse } from './first-responses.ts'
import { sawNoResponse, sawResponse } from './reachability.ts'
import { endSession, token } from './session-token.ts'

type Query = NonNullable<CallOptions['query']>

/** The server of the page, with the token of the session. Queries and uploads decide themselves what they repeat. */
const connection = new Connection({ url: siteUrl('').href, token, maxAttempts: 1, fetch: fetchAndWatch })

/** Calls the public API. `path` is relative to the root of the site: `api2/ping/`. */
export function call(method: string, path: string, options?: CallOptions): Promise<Response> {
  return inSession(() => connection.call(method, path, options))
}

/** Posts a form to an absolute URL, such as an upload link, without the token. */
export function postForm(
  url: string,
  query: Readonly<Record<string, string>>,
  form: FormData,
): Promise<Response> {
  const search = new URLSearchParams(query)
  return connection.send(`${url}?${search}`, { method: 'POST', body: () => form, isIdempotent: false })
}

/** Calls the API and resolves to the JSON of the response. */
function json<Method extends keyof Responses, Path extends string>(
  method: Method,
  path: Path,
  options?: CallOptions,
): Promise<ResponseOf<Method, Path>> {
  return inSession(() => connection.json(method, path, options))
}

export const api = {
  get: <Path extends string>(path: Path, query?: Query, signal?: AbortSignal) =>
    json('GET', path, { ...(query && { query }), signal }),
  post: <Path extends string>(path: Path, options?: CallOptions) => json('POST', path, options),
  put: <Path extends string>(path: Path, options?: CallOptions) => json('PUT', path, options),
  delete: <Path extends string>(path: Path, options?: CallOptions) => json('DELETE', path, options),
}

/** Ends the session if the server refuses its token: it ended elsewhere. A failed sign-in is not a lost session. */
async function inSession<T>(request: () => Promise<T>): Promise<T> {
  const sent = token()
  try {
    return await request()
  } catch (error) {
    const isRefused = error instanceof CarrelError && error.status === 401
    if (isRefused && sent !== undefined && sent === token()) endSession({ expired: true })
    throw error
  }
}

/** Takes the response of a request that was sent before the app was loaded, and reports whether the server answers. */
async function fetchAndWatch(url: string, sent: RequestInit): Promise<Response> {
  // The password of a link is known by a cookie.
  const request: RequestInit = visitedLink === undefined ? sent : { ...sent, credentials: 'same-origin' }
  let response: Response
  try {
    const first = request.method === 'GET' ? takeFirstResponse(url, token()) : undefined
    response = (await first?.catch(() => undefined)) ?? (await fetch(url, request))
  } catch (error) {
    if (!request.signal?.aborted) sawNoResponse()
    throw error
  }
  // The service worker answers with stored data while the server does not.
  if (response.headers.has('X-Carrel-Stored')) sawNoResponse()
  else sawResponse()
  return response
}
