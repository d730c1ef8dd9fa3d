import { HttpResponse, Refusal, type ResponseHeaders } from '../../platform/responses/index.ts'
import { escapeText } from './xml-writer.ts'

const xmlHeaders: ResponseHeaders = { 'Content-Type': 'application/xml; charset=utf-8' }

/** A condition of RFC 4918, 16, or one of our own, that explains a refusal to a program. */
type Condition =
  | 'propfind-finite-depth'
  | 'lock-token-submitted'
  | 'lock-token-matches-request-uri'
  | 'no-conflicting-lock'
  | 'no-external-entities'
  | 'cannot-modify-protected-property'
  | 'quota-not-exceeded'
  | 'sufficient-disk-space'
  | 'library-locked'

/** Conditions that are not of the DAV: namespace. */
const OWN: ReadonlySet<Condition> = new Set(['library-locked'])

/** An XML body. */
export function xmlResponse(status: number, xml: string, headers?: ResponseHeaders): HttpResponse {
  return new HttpResponse(status, { ...xmlHeaders, ...headers }, xml)
}

/** A response without a body. */
export function emptyResponse(status: number, headers: ResponseHeaders = {}): HttpResponse {
  return new HttpResponse(status, { ...headers, 'Content-Length': 0 }, '')
}

/** The body of an error: for programs the condition, for people a sentence. */
function errorXml(message: string, condition?: Condition, href?: string): string {
  const name = condition === undefined ? undefined : OWN.has(condition) ? `c:${condition}` : `d:${condition}`
  const inner = href === undefined ? '' : `<d:href>${escapeText(href)}</d:href>`
  return (
    '<?xml version="1.0" encoding="utf-8"?>\n<d:error xmlns:d="DAV:" xmlns:c="urn:carrel">' +
    `${name === undefined ? '' : `<${name}>${inner}</${name}>`}<c:message>${escapeText(message)}</c:message></d:error>`
  )
}

/** A refusal with an error in XML. */
class DavRefusal extends Refusal {
  override toResponse(): HttpResponse {
    return xmlResponse(this.status, String(this.body), this.headers)
  }
}

export function davError(
  status: number,
  message: string,
  { condition, href, headers }: { condition?: Condition; href?: string; headers?: ResponseHeaders } = {},
): Refusal {
  return new DavRefusal(status, errorXml(message, condition, href), headers)
}

/** The response to a fault. The condition follows from the status. */
export function webdavFaultResponse(status: number, message: string): HttpResponse {
  const condition = conditions.get(status)
  return xmlResponse(status, errorXml(message, condition))
}

const conditions: ReadonlyMap<number, Condition> = new Map([
  [423, 'no-conflicting-lock'],
  [507, 'quota-not-exceeded'],
])
