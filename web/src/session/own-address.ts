import { siteUrl } from '../site-url.ts'

/** The URL of a path of this site; undefined for anything else, because anybody can write a link that redirects. */
export function ownAddress(path: string | null): string | undefined {
  if (path === null || !/^\/(?![/\\])/.test(path)) return undefined
  const root = siteUrl('')
  const url = URL.parse(path.slice(1), root)
  return url?.origin === root.origin && url.pathname.startsWith(root.pathname) ? url.href : undefined
}
