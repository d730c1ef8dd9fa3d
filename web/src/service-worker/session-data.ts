import { limit } from './limits.ts'
import type { FetchEvent } from './scope.ts'
import { cacheOf, isFile, listsOf, sizeAt, stored } from './session-caches.ts'
import { FILE_LINK, keepStarred, storedLink } from './starred-files.ts'

const LIBRARY = /^api\/v2\.1\/repos\/(?<id>[\w-]{36})\/(?<dir>dir\/)?$/
const STARRED = 'api/v2.1/starred-items/'
const LISTS = ['api/v2.1/repos/', 'api2/account/info/', STARRED]

export const isKept = (path: string) => LISTS.includes(path) || LIBRARY.test(path) || FILE_LINK.test(path)

/** Whether libraries are encrypted, by id. Names of their files are not kept. */
const encrypted = new Map<string, Promise<boolean>>()

/** Data of the server, or what it answered last to the same session. */
export async function data(event: FetchEvent, path: string): Promise<Response> {
  const { request } = event
  const credential = request.headers.get('Authorization')
  if (credential === null) return fetch(request)
  const answer = fetch(request)
  const { id, dir } = LIBRARY.exec(path)?.groups ?? {}
  if (id !== undefined && dir === undefined) {
    const found = answer.then((response) => isEncrypted(response.clone()))
    encrypted.set(
      id,
      found.catch(() => true),
    )
  }
  try {
    const response = await answer
    if (response.status === 200) event.waitUntil(keep(response.clone(), request, path, credential))
    // The user may no longer read it.
    if (response.status === 403 || response.status === 404) event.waitUntil(forget(request.url, credential))
    return response
  } catch (error) {
    const cache = await cacheOf(credential)
    const kept = await (FILE_LINK.test(path)
      ? storedLink(cache, request.url, credential)
      : cache?.match(request.url))
    if (kept === undefined) throw error
    return kept
  }
}

async function forget(url: string, credential: string): Promise<void> {
  await (await cacheOf(credential))?.delete(url)
}

async function isEncrypted(response: Response): Promise<boolean> {
  const { encrypted: is } = (await response.json()) as { encrypted?: unknown }
  return is !== false
}

async function keep(response: Response, request: Request, path: string, credential: string): Promise<void> {
  if (FILE_LINK.test(path)) return
  const { id, dir } = LIBRARY.exec(path)?.groups ?? {}
  if (id !== undefined && dir !== undefined && (await (encrypted.get(id) ?? true))) return
  const body = await response.blob()
  const cache = await cacheOf(credential)
  if (cache === undefined) return
  // Deleted first, so that the order of the keys is that of use. What is too large now must not be shown as it was.
  await cache.delete(request.url)
  if (body.size > limit('listBytes')) return
  await cache.put(request.url, stored(body))
  await evictLists(cache)
  if (path === STARRED) await keepStarred(cache, await body.text(), credential)
}

/** Evicts the lists that were seen the longest ago, down to the limits. Those that starred files need to open go last. */
async function evictLists(cache: Cache): Promise<void> {
  const urls = (await cache.keys()).map(({ url }) => url)
  const needed = new Set(urls.filter(isFile).flatMap((url) => listsOf(url)))
  const lists = urls.filter((url) => !isFile(url))
  const order = [...lists.filter((url) => !needed.has(url)), ...lists.filter((url) => needed.has(url))]
  const sizes = await Promise.all(order.map((url) => sizeAt(cache, url)))
  let bytes = sizes.reduce((sum, size) => sum + size, 0)
  for (const [index, url] of order.entries()) {
    if (order.length - index <= limit('lists') && bytes <= limit('allListsBytes')) return
    await cache.delete(url)
    bytes -= sizes[index] ?? 0
  }
}
