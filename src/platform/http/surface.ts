import { DomainError, type Fault } from '../../base/errors.ts'
import { bounded, HttpResponse, jsonResponse, Refusal, type ResponseHeaders } from '../responses/index.ts'
import type { HttpRequest } from './request.ts'
import type { FaultResponse, FaultResponses, Route, SurfaceFaults } from './route.ts'

/** A protocol front end: routes for one kind of client, and its responses to faults. */
export interface Surface<User, Services> extends ErrorResponses {
  readonly routes: readonly Route<User, Services>[]
}

/** How a surface responds to errors. */
export interface ErrorResponses {
  /** Undefined for routes that cannot cause a fault. */
  readonly faults: SurfaceFaults | undefined
  /** The body around a fault's message. Default: `{"error_msg": message}`. */
  readonly faultBody?: (message: string) => unknown
  /** Replaces `faultBody` for clients that do not expect JSON. */
  readonly faultResponse?: (status: number, message: string) => HttpResponse
  /** The response to an unexpected error, after it was logged. Default: a plain 500. */
  readonly onUnknownError?: (error: unknown, request: HttpRequest) => HttpResponse
  /** Default headers of every response, in addition to those of all surfaces. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The response to a thrown fault or refusal; undefined for an unexpected error. */
export function responseToThrown(
  thrown: unknown,
  surface: ErrorResponses,
  routeFaults: FaultResponses,
): HttpResponse | undefined {
  if (thrown instanceof Refusal) return thrown.toResponse()
  if (!(thrown instanceof DomainError)) return undefined
  const found = toResponse(thrown.fault, routeFaults) ?? toResponse(thrown.fault, surface.faults)
  if (found === undefined) return undefined
  const [status, text, headers] = found
  const message = bounded(text)
  if (surface.faultResponse !== undefined) return withHeaders(surface.faultResponse(status, message), headers)
  return jsonResponse(status, surface.faultBody?.(message) ?? { error_msg: message }, headers)
}

function withHeaders(given: HttpResponse, headers: ResponseHeaders | undefined): HttpResponse {
  if (headers === undefined) return given
  return new HttpResponse(given.status, { ...given.headers, ...headers }, given.body)
}

export function plainFailure(): HttpResponse {
  return jsonResponse(500, { error_msg: 'Internal Server Error' })
}

function toResponse(fault: Fault, table: FaultResponses | SurfaceFaults = {}): FaultResponse | undefined {
  // The entry of a code takes exactly that fault, but the compiler cannot express this for a union.
  const entry = table[fault.code] as ((fault: Fault) => FaultResponse) | 'unexpected' | undefined
  return typeof entry === 'function' ? entry(fault) : undefined
}
