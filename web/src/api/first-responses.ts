interface FirstRequests {
  readonly token: string
  /** By URL. */
  readonly responses: Map<string, Promise<Response>>
}

declare global {
  /** Set by `first-requests.ts`, if someone is signed in. */
  var carrelFirstRequests: FirstRequests | undefined
}

/** After this time the data of the first page may have changed, so that it is requested again. */
const VALID_MS = 15_000

/**
 * The response to a request that `first-requests.ts` started before the app was loaded, once for each URL. Undefined if there is none, or
 * if it belongs to another session.
 */
export function takeFirstResponse(url: string, token: string | undefined): Promise<Response> | undefined {
  const first = globalThis.carrelFirstRequests
  if (first === undefined) return undefined
  if (performance.now() > VALID_MS || first.token !== token) {
    globalThis.carrelFirstRequests = undefined
    return undefined
  }
  const response = first.responses.get(url)
  first.responses.delete(url)
  return response
}
