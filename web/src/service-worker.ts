/**
 * The service worker: the app without a connection. It keeps the files of the app, the lists that were seen last, and starred files. All that it keeps is
 * a fallback: while the server answers, pages and data come from the server, so that an old app never calls a newer API. It imports
 * nothing, because it is a classic script.
 */

/** Replaced by the build: a hash, so that a new build is a new worker, and the files of the app. */
const BUILD = '__BUILD__'
const FILES = '__FILES__'

const SHELL = `carrel-shell-${BUILD}`
/** Followed by a hash of the token. The app creates the cache at sign-in, if the session is to be kept, and deletes it at sign-out. */
const DATA = 'carrel-data-'
/** Files that another app shares, until a folder is chosen. */
const SHARED = 'carrel-shared'

const MAX_LISTS = 200
const MAX_LIST_BYTES = 2 * 2 ** 20
const MAX_STARRED = 50
const MAX_STARRED_BYTES = 20 * 2 ** 20

interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request
  readonly preloadResponse: Promise<Response | undefined>
  respondWith(response: Promise<Response>): void
}
interface Scope {
  readonly registration: {
    readonly scope: string
    readonly navigationPreload?: { enable(): Promise<void> }
  }
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void
  addEventListener(type: 'message', listener: (event: MessageEvent<unknown>) => void): void
}

const worker = globalThis as unknown as Scope
/** The root of the site. The scope is `app` below it. */
const siteRoot = new URL('./', worker.registration.scope)
const PAGE = new URL('app/', siteRoot).href

worker.addEventListener('install', (event) => event.waitUntil(install()))
worker.addEventListener('activate', (event) => event.waitUntil(activate()))
worker.addEventListener('message', ({ data }) => {
  if (data === 'activate') void worker.skipWaiting()
})
worker.addEventListener('fetch', (event) => {
  const { request } = event
  const url = new URL(request.url)
  if (url.origin !== siteRoot.origin || !url.pathname.startsWith(siteRoot.pathname)) return
  const path = url.pathname.slice(siteRoot.pathname.length)
  if (request.method === 'POST' && path === 'app/share') event.respondWith(receiveShared(request))
  if (request.method !== 'GET') return
  if (request.mode === 'navigate') event.respondWith(page(event))
  else if (path.startsWith('web/assets/') || path === 'pages/icon.svg') event.respondWith(asset(request))
  else if (path === 'app/offline-file') event.respondWith(storedFile(url))
  else if (isKept(path)) event.respondWith(data(event, path))
})

async function install(): Promise<void> {
  await keepPage(await fetch(PAGE, { cache: 'no-store' }))
  const shell = await caches.open(SHELL)
  await shell.addAll(FILES.split(' ').map((name) => new URL(name, siteRoot).href))
}

async function activate(): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith('carrel-shell-') && name !== SHELL) await caches.delete(name)
  }
  await worker.registration.navigationPreload?.enable()
  await worker.clients.claim()
}

/** The page of the app from the server, or the one kept last. */
async function page(event: FetchEvent): Promise<Response> {
  try {
    const response = (await event.preloadResponse) ?? (await fetch(event.request))
    if (response.ok) event.waitUntil(keepPage(response.clone()))
    return response
  } catch (error) {
    const kept = await (await caches.open(SHELL)).match(PAGE)
    if (kept === undefined) throw error
    return kept
  }
}

/** Keeps a page so that it works at every address of the app. */
async function keepPage(response: Response): Promise<void> {
  if (!response.headers.get('Content-Type')?.startsWith('text/html')) return
  const html = await response.text()
  const { headers } = response
  const rooted = html.replace(/<base href="[^"]*"/, `<base href="${siteRoot.pathname}"`)
  await (await caches.open(SHELL)).put(PAGE, new Response(rooted, { headers }))
}

/** Names of assets contain hashes of their content, so what is kept is right. */
async function asset(request: Request): Promise<Response> {
  const shell = await caches.open(SHELL)
  const kept = await shell.match(request.url)
  if (kept !== undefined) return kept
  const response = await fetch(request)
  if (response.status === 200) await shell.put(request.url, response.clone())
  return response
}

const LIBRARY = /^api\/v2\.1\/repos\/(?<id>[\w-]{36})\/(?<dir>dir\/)?$/
const FILE_LINK = /^api2\/repos\/(?<id>[\w-]{36})\/file\/$/
const STARRED = 'api/v2.1/starred-items/'
const LISTS = ['api/v2.1/repos/', 'api2/account/info/', STARRED]

const isKept = (path: string) => LISTS.includes(path) || LIBRARY.test(path) || FILE_LINK.test(path)

/** Whether libraries are encrypted, by id. Names of their files are not kept. */
const encrypted = new Map<string, Promise<boolean>>()

/** Data of the server, or what it answered last to the same session. */
async function data(event: FetchEvent, path: string): Promise<Response> {
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

async function cacheOf(credential: string): Promise<Cache | undefined> {
  const name = await cacheName(credential)
  return (await caches.has(name)) ? caches.open(name) : undefined
}

async function cacheName(credential: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(credential))
  return DATA + Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function keep(response: Response, request: Request, path: string, credential: string): Promise<void> {
  if (FILE_LINK.test(path)) return
  const { id, dir } = LIBRARY.exec(path)?.groups ?? {}
  if (id !== undefined && dir !== undefined && (await (encrypted.get(id) ?? true))) return
  const body = await response.blob()
  const cache = await cacheOf(credential)
  if (cache === undefined || body.size > MAX_LIST_BYTES) return
  const headers = { 'Content-Type': 'application/json', 'X-Carrel-Stored': '1' }
  // Deleted first, so that the order of the keys is that of use.
  await cache.delete(request.url)
  await cache.put(request.url, new Response(body, { headers }))
  const kept = (await cache.keys()).filter(({ url }) => !isFile(url))
  for (const { url } of kept.slice(0, -MAX_LISTS)) await cache.delete(url)
  if (path === STARRED) await keepStarred(cache, await body.text(), credential)
}

interface StarredItem {
  readonly repo_id: string
  readonly repo_encrypted: boolean
  readonly is_dir: boolean
  readonly path: string
  readonly mtime: string
  readonly deleted: boolean
}

const fileUrl = (id: string, path: string) =>
  new URL(`app/offline-file?${new URLSearchParams({ id, p: path })}`, siteRoot).href
const isFile = (url: string) => url.startsWith(new URL('app/offline-file?', siteRoot).href)

/** Downloads starred files that are new or have changed, and forgets those without a star. */
async function keepStarred(cache: Cache, list: string, credential: string): Promise<void> {
  const { starred_item_list: items } = JSON.parse(list) as { starred_item_list: StarredItem[] }
  const wanted = items
    .filter((item) => !item.is_dir && !item.deleted && !item.repo_encrypted)
    .slice(0, MAX_STARRED)
  const urls = new Set(wanted.map(({ repo_id, path }) => fileUrl(repo_id, path)))
  for (const { url } of await cache.keys()) if (isFile(url) && !urls.has(url)) await cache.delete(url)
  for (const item of wanted) await keepFile(cache, item, credential).catch(() => undefined)
}

async function keepFile(cache: Cache, { repo_id: id, path, mtime }: StarredItem, credential: string) {
  const key = fileUrl(id, path)
  const kept = await cache.match(key)
  if (kept?.headers.get('X-Carrel-Changed') === mtime) return
  const headers = { Authorization: credential, Accept: 'application/json' }
  const get = (call: string) => fetch(new URL(call, siteRoot), { headers, credentials: 'omit' })
  // The page of a file needs its library and its folder as well.
  const folder = path.slice(0, path.lastIndexOf('/')) || '/'
  for (const call of [
    `api/v2.1/repos/${id}/`,
    `api/v2.1/repos/${id}/dir/?${new URLSearchParams({ p: folder })}`,
  ]) {
    const { href } = new URL(call, siteRoot)
    const response = await get(call)
    if (response.status === 200) await cache.put(href, stored(await response.blob()))
  }
  const link = await get(`api2/repos/${id}/file/?${new URLSearchParams({ p: path, reuse: '1' })}`)
  if (link.status !== 200) return
  const address = (await link.json()) as string
  const start = address.indexOf('/seafhttp/')
  const response = await fetch(new URL(address.slice(start + 1), siteRoot), { credentials: 'omit' })
  const size = Number(response.headers.get('Content-Length') ?? Number.POSITIVE_INFINITY)
  if (response.status !== 200 || size > MAX_STARRED_BYTES) {
    await response.body?.cancel()
    return
  }
  // With the headers of the server, which forbid the content to run as a page.
  const all = new Headers(response.headers)
  all.delete('Content-Encoding')
  all.set('X-Carrel-Changed', mtime)
  all.set('X-Carrel-Oid', link.headers.get('oid') ?? '')
  await cache.put(key, new Response(await response.blob(), { headers: all }))
}

const stored = (body: Blob) =>
  new Response(body, { headers: { 'Content-Type': 'application/json', 'X-Carrel-Stored': '1' } })

/** In place of a download link: the address of the stored file. */
async function storedLink(
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
async function storedFile(url: URL): Promise<Response> {
  const name = url.searchParams.get('cache') ?? ''
  const key = fileUrl(url.searchParams.get('id') ?? '', url.searchParams.get('p') ?? '')
  const isOurs = name.startsWith(DATA) && (await caches.has(name))
  return (isOurs && (await (await caches.open(name)).match(key))) || new Response('', { status: 404 })
}

/**
 * Whether a page of another site sent the request. Apps share without an origin and a referrer; a page that hides its own says so by its policy.
 */
function isFromElsewhere({ headers, referrer, referrerPolicy }: Request): boolean {
  const origin = headers.get('Origin') ?? 'null'
  if (origin !== 'null') return origin !== siteRoot.origin
  return referrerPolicy === 'no-referrer' || !(referrer === '' || referrer.startsWith(siteRoot.href))
}

/** Stores what another app shares, for the page that asks for a folder. What another site sends is discarded. */
async function receiveShared(request: Request): Promise<Response> {
  if (isFromElsewhere(request)) return Response.redirect(PAGE, 303)
  const form = await request.formData()
  await caches.delete(SHARED)
  const cache = await caches.open(SHARED)
  const files = form.getAll('files').filter((one) => one instanceof File)
  const text = ['title', 'text', 'url']
    .map((name) => form.get(name))
    .filter((one) => typeof one === 'string')
    .filter((one) => one !== '')
  if (files.length === 0 && text.length > 0)
    files.push(new File([text.join('\n')], 'shared.txt', { type: 'text/plain' }))
  for (const [index, file] of files.entries()) {
    const headers = {
      'X-Carrel-Name': encodeURIComponent(file.name),
      'Content-Type': file.type || 'application/octet-stream',
    }
    await cache.put(new URL(`app/share/${index}`, siteRoot).href, new Response(file, { headers }))
  }
  return Response.redirect(new URL('app/share', siteRoot).href, 303)
}
