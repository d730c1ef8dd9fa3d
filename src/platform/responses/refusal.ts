import { HttpResponse, jsonResponse, type ResponseHeaders, textResponse } from './response.ts'

/** In UTF-16 code units: more than the longest path. Text of a request may be in a message, and a body has megabytes. */
const MAX_MESSAGE = 32_768

/** A message as it is sent. */
export function bounded(message: string): string {
  return message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE).toWellFormed()}…`
}

/** A response that is thrown instead of returned. */
export class Refusal extends Error {
  readonly status: number
  /** Sent as JSON. */
  readonly body: unknown
  readonly headers: ResponseHeaders | undefined

  constructor(status: number, body: unknown, headers?: ResponseHeaders, options?: ErrorOptions) {
    super(`refused with ${status}`, options)
    this.name = 'Refusal'
    this.status = status
    this.body = body
    this.headers = headers
  }

  toResponse(): HttpResponse {
    return jsonResponse(this.status, this.body, this.headers)
  }
}

/** A refusal that is sent as a line of plain text. */
export class TextRefusal extends Refusal {
  override toResponse(): HttpResponse {
    const { status, headers, body } = textResponse(this.status, String(this.body))
    return new HttpResponse(status, { ...headers, ...this.headers }, body)
  }
}

/** A refusal by an endpoint: `{"error_msg": text}`. */
export function errorMessage(status: number, text: string, headers?: ResponseHeaders): Refusal {
  return new Refusal(status, { error_msg: bounded(text) }, headers)
}

/** A refusal before an endpoint is reached (credentials, rate limit, method, parsing): `{"detail": text}`. */
export function detail(status: number, text: string, headers?: ResponseHeaders): Refusal {
  return new Refusal(status, { detail: bounded(text) }, headers)
}

/** The response to an unknown path, and to a path segment that cannot be parsed. */
export function notFound(): Refusal {
  return errorMessage(404, 'Not found.')
}
