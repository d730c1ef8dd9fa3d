import { visitedLink } from './visited-link.ts'

/** The root URL of the site, with a trailing slash. The server writes it into `<base>`, and on the page of a link into an element of its own. */
const siteRoot = new URL(
  document.querySelector<HTMLMetaElement>('meta[name="site-root"]')?.content ?? '',
  document.baseURI,
)

/** The path of the app, without a trailing slash. That of a visitor is at the address of the link. */
export const appBase = new URL(appPath(), siteRoot).pathname

function appPath(): string {
  if (visitedLink === undefined) return 'app'
  return `${visitedLink.isDir ? 'd' : 'f'}/${visitedLink.token}`
}

/** URL of a path relative to the root of the site. */
export function siteUrl(path: string): URL {
  return new URL(path, siteRoot)
}

/** The CSP nonce, for style elements that libraries create. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

/**
 * Rebases a URL of the server onto the origin of the page, because the server may know itself by another name.
 * `from` is the first path segment below the root of the site.
 */
export function rebaseUrl(address: string, from = 'seafhttp/'): string {
  const start = address.indexOf(`/${from}`)
  return start < 0 ? address : siteUrl(address.slice(start + 1)).href
}
