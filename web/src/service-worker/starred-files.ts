import { keepViewers } from './app-files.ts'
import { limit } from './limits.ts'
import { siteRoot } from './scope.ts'
import {
  cacheName,
  DATA,
  fileUrl,
  isFile,
  keptFileNames,
  listsOf,
  SIZE,
  sizeAt,
  stored,
} from './session-caches.ts'

export const FILE_LINK = /^api2\/repos\/(?<id>[\w-]{36})\/file\/$/

interface StarredItem {
  readonly repo_id: string
  readonly repo_encrypted: boolean
  readonly is_dir: boolean
  readonly path: string
  readonly mtime: string
  readonly deleted: boolean
}

const keyOf = ({ repo_id, path }: StarredItem) => fileUrl(repo_id, path)

/** One list after the other: two at once would download the same files. */
let running = Promise.resolve()

/** Downloads starred files that are new or have changed, and forgets those without a star. */
export function keepStarred(cache: Cache, list: string, credential: string): Promise<void> {
  running = running.then(() => keepFiles(cache, list, credential)).catch(() => undefined)
  return running
}

async function keepFiles(cache: Cache, list: string, credential: string): Promise<void> {
  const { starred_item_list: items } = JSON.parse(list) as { starred_item_list: StarredItem[] }
  // The oldest are the first to go.
  const wanted = items
    .filter((item) => !item.is_dir && !item.deleted && !item.repo_encrypted)
    .toSorted((a, b) => Date.parse(b.mtime) - Date.parse(a.mtime))
    .slice(0, limit('files'))
  const urls = wanted.map(keyOf)
  for (const { url } of await cache.keys()) if (isFile(url) && !urls.includes(url)) await cache.delete(url)
  let used = 0
  for (const [index, item] of wanted.entries()) {
    const most = Math.min(limit('fileBytes'), limit('allFilesBytes') - used)
    // An error of the connection leaves what is kept.
    await keepFile(cache, item, credential, {
      most,
      makeRoom: (size) => evict(cache, urls.slice(index + 1), limit('allFilesBytes') - used - size),
    }).catch(() => undefined)
    used += await sizeAt(cache, keyOf(item))
  }
  await keepViewers(await keptFileNames())
}

/** Deletes files from the end of a list until the others take at most `room` bytes. */
async function evict(cache: Cache, urls: readonly string[], room: number): Promise<void> {
  const sizes = await Promise.all(urls.map((url) => sizeAt(cache, url)))
  let bytes = sizes.reduce((sum, size) => sum + size, 0)
  for (let index = urls.length - 1; index >= 0 && bytes > room; index -= 1) {
    await cache.delete(urls[index] ?? '')
    bytes -= sizes[index] ?? 0
  }
}

interface Room {
  /** The largest file that may be kept, in bytes. */
  readonly most: number
  readonly makeRoom: (size: number) => Promise<void>
}

async function keepFile(cache: Cache, item: StarredItem, credential: string, { most, makeRoom }: Room) {
  const { repo_id: id, path, mtime } = item
  const key = keyOf(item)
  const kept = await cache.match(key)
  if (kept?.headers.get('X-Carrel-Changed') === mtime) return
  const headers = { Authorization: credential, Accept: 'application/json' }
  const get = (call: string) => fetch(new URL(call, siteRoot), { headers, credentials: 'omit' })
  for (const call of listsOf(key)) {
    const response = await get(call)
    const body = await response.blob()
    if (response.status === 200 && body.size <= limit('listBytes')) await cache.put(call, stored(body))
  }
  const link = await get(`api2/repos/${id}/file/?${new URLSearchParams({ p: path, reuse: '1' })}`)
  if (link.status !== 200) return
  const address = (await link.json()) as string
  const start = address.indexOf('/seafhttp/')
  const response = await fetch(new URL(address.slice(start + 1), siteRoot), { credentials: 'omit' })
  const size = Number(response.headers.get('Content-Length') ?? Number.POSITIVE_INFINITY)
  if (response.status !== 200 || size > most) {
    await response.body?.cancel()
    // The former content is not the file any more.
    if (response.status === 200) await cache.delete(key)
    return
  }
  await makeRoom(size)
  const body = await response.blob()
  // With the headers of the server, which forbid the content to run as a page.
  const all = new Headers(response.headers)
  all.delete('Content-Encoding')
  all.set('X-Carrel-Changed', mtime)
  all.set('X-Carrel-Oid', link.headers.get('oid') ?? '')
  all.set(SIZE, String(body.size))
  await cache.put(key, new Response(body, { headers: all }))
}

/** In place of a download link: the address of the stored file. */
export async function storedLink(
  cache: Cache | undefined,
  call: string,
  credential: string,
): Promise<Response | undefined> {
  const url = new URL(call)
  const id = FILE_LINK.exec(url.pathname.slice(siteRoot.pathname.length))?.groups?.['id'] ?? ''
  const key = fileUrl(id, url.searchParams.get('p') ?? '')
  const kept = await cache?.match(key)
  if (kept === undefined || url.searchParams.has('commit_id')) return undefined
  const address = `${key}&cache=${await cacheName(credential)}`
  const response = stored(new Blob([JSON.stringify(address)]))
  response.headers.set('oid', kept.headers.get('X-Carrel-Oid') ?? '')
  return response
}

/** A starred file. Elements such as `img` send no credential, so the address names the cache. */
export async function storedFile(url: URL, range: string | null): Promise<Response> {
  const name = url.searchParams.get('cache') ?? ''
  const key = fileUrl(url.searchParams.get('id') ?? '', url.searchParams.get('p') ?? '')
  const isOurs = name.startsWith(DATA) && (await caches.has(name))
  const kept = isOurs ? await (await caches.open(name)).match(key) : undefined
  if (kept === undefined) return new Response('', { status: 404 })
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? []
  return first === undefined ? kept : partOf(kept, Number(first), last)
}

/** A range of a response: the PDF viewer and videos ask for them, and take the whole file for a part otherwise. */
async function partOf(whole: Response, first: number, last: string | undefined): Promise<Response> {
  const body = await whole.blob()
  const headers = new Headers(whole.headers)
  if (first >= body.size) {
    headers.set('Content-Range', `bytes */${body.size}`)
    return new Response(null, { status: 416, headers })
  }
  const end = Math.min(last ? Number(last) + 1 : body.size, body.size)
  headers.set('Content-Range', `bytes ${first}-${end - 1}/${body.size}`)
  headers.set('Content-Length', String(end - first))
  return new Response(body.slice(first, end, body.type), { status: 206, headers })
}
