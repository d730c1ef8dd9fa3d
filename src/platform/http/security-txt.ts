import { notFound, rawResponse } from '../responses/index.ts'
import { type Route, routesFor } from './route.ts'

interface SecurityTxtOptions {
  /** A URI for vulnerability reports. Without it there is no file. */
  readonly contact: string | undefined
  /** Without a trailing slash. The file contains its own URL only if this is set. */
  readonly publicUrl: string | undefined
  /** Unix seconds. */
  readonly now: () => number
}

const path = '/.well-known/security.txt'
const DAY = 86_400
/** RFC 9116 recommends less than a year, so that an abandoned file expires. A running server renews it. */
const VALID_DAYS = 180

/** Serves `security.txt` (RFC 9116). */
export function securityTxtRoute({ contact, publicUrl, now }: SecurityTxtOptions): Route<unknown, unknown> {
  return routesFor<unknown, unknown>()({
    method: 'GET',
    path,
    auth: 'none',
    limit: 'anonymous',
    summary: 'Returns the contact for vulnerability reports (RFC 9116), if configured.',
    handle() {
      if (contact === undefined) throw notFound()
      // Rounded to midnight UTC, so that the file changes once a day.
      const expires = (Math.floor(now() / DAY) + VALID_DAYS) * DAY
      const lines = [
        `Contact: ${contact}`,
        `Expires: ${new Date(expires * 1000).toISOString().replace('.000', '')}`,
        ...(publicUrl === undefined ? [] : [`Canonical: ${publicUrl}${path}`]),
        'Preferred-Languages: en',
      ]
      const body = `${lines.join('\n')}\n`
      return rawResponse({ headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body })
    },
  })
}
