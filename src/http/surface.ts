import { DomainError, type Fault } from '../errors.ts'
import { Refusal } from './refusal.ts'
import type { HttpRequest } from './request.ts'
import { HttpResponse, jsonResponse, type ResponseHeaders } from './response.ts'
import type { FaultResponse, FaultWords, Route, SurfaceFaults } from './route.ts'

/** A set of routes that speaks to one kind of client, and its words for the faults it can meet. */
export interface Surface<User, Services> extends Wording {
  readonly routes: readonly Route<User, Services>[]
}

/** How what goes wrong is put to a client. */
export interface Wording {
  /** Undefined for routes that cannot cause a fault. */
  readonly faults: SurfaceFaults | undefined
  /** The body a fault's message is sent in; `{"error_msg": message}` unless said otherwise. */
  readonly faultBody?: (message: string) => unknown
  /** In place of `faultBody`, for clients that are not answered in JSON. */
  readonly faultResponse?: (status: number, message: string) => HttpResponse
  /** The answer to our own bugs, after they were logged; a plain 500 unless said otherwise. */
  readonly onUnknownError?: (error: unknown, request: HttpRequest) => HttpResponse
  /** Sent with every answer that does not have them itself, whatever it is, beside those every surface sends. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer to something thrown on purpose, or undefined when it is a bug of ours. */
export function responseToThrown(
  thrown: unknown,
  surface: Wording,
  routeFaults: FaultWords,
): HttpResponse | undefined {
  if (thrown instanceof Refusal) return thrown.toResponse()
  if (!(thrown instanceof DomainError)) return undefined
  const words = put(thrown.fault, routeFaults) ?? put(thrown.fault, surface.faults)
  if (words === undefined) return undefined
  const [status, message, headers] = words
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

function put(fault: Fault, table: FaultWords | SurfaceFaults = {}): FaultResponse | undefined {
  // The entry under a fault's code takes just that fault; the compiler cannot pair them through a union.
  const entry = table[fault.code] as ((fault: Fault) => FaultResponse) | 'unexpected' | undefined
  return typeof entry === 'function' ? entry(fault) : undefined
}
