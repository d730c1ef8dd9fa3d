import { limit } from './limits.ts'
import { type FetchEvent, PAGE, siteRoot, worker } from './scope.ts'
import { keptFileNames } from './session-caches.ts'

/** Replaced by the build: a hash, so that a new build is a new worker, and the files of the app. */
const BUILD = '__BUILD__'
const FILES = '__FILES__'.split(' ')
/** Replaced by the build: viewers that are too large for everyone, as `pdf web/assets/a.js web/assets/b.mjs;…`, each with the ending of the names that need it. */
const VIEWERS = '__VIEWERS__'

const SHELLS = 'carrel-shell-'
const SHELL = SHELLS + BUILD
/** How many files of a viewer are fetched at once. */
const BATCH = 8

const urlOf = (name: string) => new URL(name, siteRoot).href

export async function install(): Promise<void> {
  await keepPage(await fetch(PAGE, { cache: 'no-store' }))
  const shell = await caches.open(SHELL)
  await shell.addAll(FILES.map(urlOf))
  // A new build without them still works: they are fetched again with the next list of stars.
  await keepViewers(await keptFileNames()).catch(() => undefined)
}

export async function activate(): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith(SHELLS) && name !== SHELL) await caches.delete(name)
  }
  await worker.registration.navigationPreload?.enable()
  await worker.clients.claim()
}

/** The page of the app from the server, or the one kept last. */
export async function page(event: FetchEvent): Promise<Response> {
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
export async function asset(request: Request): Promise<Response> {
  const shell = await caches.open(SHELL)
  const kept = await shell.match(request.url)
  if (kept !== undefined) return kept
  const response = await fetch(request)
  if (response.status === 200) {
    await shell.put(request.url, response.clone())
    await evictParts(shell)
  }
  return response
}

/** Keeps the viewers that files of these names need. What an earlier build has kept is copied. */
export async function keepViewers(names: readonly string[]): Promise<void> {
  const shell = await caches.open(SHELL)
  for (const viewer of VIEWERS.split(';')) {
    const [ending = '', ...files] = viewer.split(' ')
    if (!names.some((name) => name.toLowerCase().endsWith(`.${ending}`))) continue
    for (let at = 0; at < files.length; at += BATCH)
      await Promise.all(files.slice(at, at + BATCH).map((file) => keepPart(shell, urlOf(file))))
  }
  await evictParts(shell)
}

async function keepPart(shell: Cache, url: string): Promise<void> {
  if ((await shell.match(url)) !== undefined) return
  const response = (await caches.match(url)) ?? (await fetch(url))
  if (response.status === 200) await shell.put(url, response)
}

/** Evicts what was loaded first of the parts that not everyone needs, such as the languages of the editor. */
async function evictParts(shell: Cache): Promise<void> {
  const needed = new Set([PAGE, ...FILES.map(urlOf)])
  const parts = (await shell.keys()).filter(({ url }) => !needed.has(url))
  const excess = Math.max(0, parts.length - limit('parts'))
  for (const { url } of parts.slice(0, excess)) await shell.delete(url)
}
