/** Origin form, asterisk form, or absolute form with a host and no user information. */
const TARGET = /^(?:\/[!-~]*|\*|https?:\/\/[\w.~:[\]-]+(?:[/?][!-~]*)?)$/i
const ABSOLUTE = /^https?:\/\/([^/?#]+)(.*)$/is
/** RFC 9110, 7.2: a name or an address, and a port; empty if the client knows neither. */
const HOST =
  /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*|\[[\da-f:.]+\]|\[v[\da-f]+\.[\w.~!$&'()*+,;=:-]+\])(?::\d*)?$/i

/** Whether a request may have this target. */
export function isRequestTarget(target: string): boolean {
  return TARGET.test(target)
}

/** Whether the value of a `Host` field is valid. */
export function isHost(value: string): boolean {
  return HOST.test(value)
}

/** Host and port of an absolute-form target; undefined for any other form. */
export function authorityOf(target: string): string | undefined {
  return target.startsWith('/') ? undefined : ABSOLUTE.exec(target)?.[1]
}

/** Path and query of a target. An absolute URL without a path stands for the root. */
export function originFormOf(target: string): string {
  if (target.startsWith('/')) return target
  const rest = ABSOLUTE.exec(target)?.[2]
  if (rest === undefined) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}
