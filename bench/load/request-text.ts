import { withNumber } from './request-template.ts'

/** A request to be sent again and again. Path and form are sent as they are, so they must be encoded. */
export interface RequestShape {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Urlencoded. */
  readonly form?: string
  readonly apiToken?: string
}

/** The request as it goes over the wire, with the numbers of RequestTemplate still in it. */
export function requestText({ method, path, form, apiToken }: RequestShape, host: string): string {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, 'Accept: application/json']
  if (apiToken !== undefined) lines.push(`Authorization: Token ${apiToken}`)
  if (form !== undefined) {
    lines.push('Content-Type: application/x-www-form-urlencoded')
    lines.push(`Content-Length: ${withNumber(form, 0).length}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n${form ?? ''}`
}
