import { notFound } from './refusal.ts'
import { rawResponse } from './response.ts'
import { type Route, routesFor } from './route.ts'

export interface SecurityTxtOptions {
  /** A URI under which somebody who found a vulnerability reaches the operator; without it there is no file. */
  readonly contact: string | undefined
  /** Without a slash at its end; the file names itself only where it is known. */
  readonly publicUrl: string | undefined
  /** Unix seconds. */
  readonly now: () => number
}

const path = '/.well-known/security.txt'
const DAY = 86_400
/** RFC 9116 wants less than a year, so that nobody trusts an abandoned file. A running server renews it. */
const VALID_DAYS = 180

/** Whom to tell of a vulnerability of this server, as RFC 9116 has it. */
export function securityTxtRoute({ contact, publicUrl, now }: SecurityTxtOptions): Route<unknown, unknown> {
  return routesFor<unknown, unknown>()({
    method: 'GET',
    path,
    auth: 'none',
    limit: 'anonymous',
    summary: 'Returns the contact for vulnerability reports (RFC 9116), if configured.',
    handle() {
      if (contact === undefined) throw notFound()
      // At midnight, so that the file changes once a day.
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
