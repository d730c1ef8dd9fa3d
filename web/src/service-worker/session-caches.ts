import { siteRoot } from './scope.ts'

/** Followed by a hash of the token. The app creates the cache at sign-in, if the session is to be kept, and deletes it at sign-out. */
export const DATA = 'carrel-data-'

/** The number of bytes of a stored response, so that the account page and the limits need not read it. */
export const SIZE = 'X-Carrel-Size'

export async function cacheOf(credential: string): Promise<Cache | undefined> {
  const name = await cacheName(credential)
  return (await caches.has(name)) ? caches.open(name) : undefined
}

export async function cacheName(credential: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(credential))
  return DATA + Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** JSON of the server, as it is stored. */
export const stored = (body: Blob) =>
  new Response(body, {
    headers: { 'Content-Type': 'application/json', 'X-Carrel-Stored': '1', [SIZE]: String(body.size) },
  })

const FILE = new URL('app/offline-file?', siteRoot).href

/** The address of a starred file in the cache. */
export const fileUrl = (id: string, path: string) => FILE + String(new URLSearchParams({ id, p: path }))
export const isFile = (url: string) => url.startsWith(FILE)

/** The addresses of the library and the folder of a starred file, which its page needs as well. */
export function listsOf(file: string): string[] {
  const query = new URL(file).searchParams
  const path = query.get('p') ?? ''
  const library = new URL(`api/v2.1/repos/${query.get('id')}/`, siteRoot).href
  const folder = path.slice(0, path.lastIndexOf('/')) || '/'
  return [library, `${library}dir/?${new URLSearchParams({ p: folder })}`]
}

/** The size of what is stored at an address, 0 if nothing is. An earlier build did not store sizes. */
export async function sizeAt(cache: Cache, url: string): Promise<number> {
  const response = await cache.match(url)
  return Number(response?.headers.get(SIZE) ?? (await response?.blob())?.size ?? 0)
}

/** The paths of the starred files that are kept, of every session. */
export async function keptFileNames(): Promise<string[]> {
  const names = (await caches.keys()).filter((name) => name.startsWith(DATA))
  const keys = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
  return keys.flat().flatMap(({ url }) => (isFile(url) ? [new URL(url).searchParams.get('p') ?? ''] : []))
}
