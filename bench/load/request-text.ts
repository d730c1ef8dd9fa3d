import { withNumber } from './request-template.ts'

/** A request to be sent again and again. Path and form are sent as they are, so they must be encoded. */
export interface RequestShape {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Urlencoded. */
  readonly form?: string
  /** One character a byte. Its type, if it matters, is among the headers. */
  readonly body?: string
  readonly apiToken?: string
}

/** The request as it goes over the wire, with the numbers of RequestTemplate still in it. */
export function requestText(shape: RequestShape, host: string): string {
  const { method, path, headers = {}, form, body = form, apiToken } = shape
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, 'Accept: application/json']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (apiToken !== undefined) lines.push(`Authorization: Token ${apiToken}`)
  if (form !== undefined) lines.push('Content-Type: application/x-www-form-urlencoded')
  if (body !== undefined) lines.push(`Content-Length: ${withNumber(body, 0).length}`)
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`
}
