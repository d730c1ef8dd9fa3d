/** The root of the site, with a slash at its end: the server writes it into the page's `<base>`. */
const siteRoot = new URL(document.baseURI)

/** Where the app's own addresses begin, as a path without a slash at its end. */
export const appBase = new URL('app', siteRoot).pathname

/** The address of something on this server, named from the root of the site. */
export function siteUrl(path: string): URL {
  return new URL(path, siteRoot)
}

/** The one-time value that lets style elements made by libraries through the content security policy. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

/**
 * An address the server gave, seen from here: it may know itself by another name than the browser does. `from` is
 * the first part of the path below the root of the site.
 */
export function rebaseUrl(address: string, from = 'seafhttp/'): string {
  const start = address.indexOf(`/${from}`)
  return start < 0 ? address : siteUrl(address.slice(start + 1)).href
}
