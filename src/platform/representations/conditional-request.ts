import type { IncomingHttpHeaders } from 'node:http'

/** Validators of a representation (RFC 9110, 8.8). */
export interface Validators {
  /** The opaque tag, without quotes. Always strong. */
  readonly etag?: string | undefined
  /** Unix seconds. */
  readonly lastModified?: number | undefined
}

/** The result of the preconditions of a request (RFC 9110, 13.2.2). */
export type Verdict = 'proceed' | 'not-modified' | 'precondition-failed'

export function judge(headers: IncomingHttpHeaders, validators: Validators): Verdict {
  const { etag, lastModified } = validators
  const { 'if-match': match, 'if-unmodified-since': unmodified } = headers
  const { 'if-none-match': noneMatch, 'if-modified-since': modified } = headers
  if (match !== undefined) {
    if (!isListed(match, etag, { weakCounts: false })) return 'precondition-failed'
  } else if (unmodified !== undefined && isAfter(lastModified, unmodified)) return 'precondition-failed'
  if (noneMatch !== undefined) {
    return isListed(noneMatch, etag, { weakCounts: true }) ? 'not-modified' : 'proceed'
  }
  if (modified === undefined) return 'proceed'
  const since = readDate(modified)
  return since !== undefined && lastModified !== undefined && lastModified <= since
    ? 'not-modified'
    : 'proceed'
}

/** Whether the `Range` header applies. It does not if `If-Range` names another version. */
export function rangeApplies(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  const { 'if-range': condition } = headers
  if (condition === undefined) return true
  const text = String(condition).trim()
  const date = readDate(text)
  if (date !== undefined) return date === lastModified
  return isListed(text, etag, { weakCounts: false })
}

/** Whether a tag is in a list of tags. Tags without quotes match too, because some clients send them. */
function isListed(list: string, etag: string | undefined, { weakCounts }: { weakCounts: boolean }): boolean {
  if (list.trim() === '*') return true
  if (etag === undefined) return false
  for (const [, weak, quoted, bare] of list.matchAll(/(W\/)?(?:"([^"]*)"|([^\s",]+))/g)) {
    if ((quoted ?? bare) === etag && (weak === undefined || weakCounts)) return true
  }
  return false
}

function isAfter(lastModified: number | undefined, date: string): boolean {
  const seconds = readDate(date)
  return seconds !== undefined && lastModified !== undefined && lastModified > seconds
}

/** Parses an HTTP date. The two obsolete formats also begin with the name of a day. */
function readDate(text: string): number | undefined {
  if (!/^(?:mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000)
}
