import type { HttpRequest } from './request.ts'

/**
 * Whether a page of another site made the browser send this request, by a link, a form or a script. Browsers say so in `Sec-Fetch-Site`, which pages
 * cannot set. Programs, and addresses that a program or a person opens in a browser, have no such site.
 */
export function isFromElsewhere({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  return site === 'cross-site' || site === 'same-site'
}
