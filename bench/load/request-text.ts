import { withNumber } from './request-template.ts'

/** A request that is sent repeatedly. Path and form must be encoded already. */
export interface RequestShape {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PROPFIND'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Urlencoded. */
  readonly form?: string
  /** Latin-1. A content type is passed in the headers. */
  readonly body?: string
  readonly apiToken?: string
}

/** The request as sent, with the placeholders of RequestTemplate. */
export function requestText(shape: RequestShape, host: string): string {
  const { method, path, headers = {}, form, body = form, apiToken } = shape
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, 'Accept: application/json']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (apiToken !== undefined) lines.push(`Authorization: Token ${apiToken}`)
  if (form !== undefined) lines.push('Content-Type: application/x-www-form-urlencoded')
  if (body !== undefined) lines.push(`Content-Length: ${withNumber(body, 0).length}`)
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`
}
