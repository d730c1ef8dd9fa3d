import type { IncomingMessage } from 'node:http'

/**
 * One header of a request, the first of several; `name` in lower case. For those that short requests need: to make an object of
 * all of them costs more than finding the route.
 */
export function oneHeader(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  name: string,
): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]
    if (sent?.length === name.length && sent.toLowerCase() === name) return rawHeaders[at + 1]
  }
  return undefined
}
