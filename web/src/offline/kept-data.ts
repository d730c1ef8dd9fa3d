import { ownCache } from './offline-data.ts'

/** As the service worker names them. */
const SHELL = 'carrel-shell-'
const FILE = 'app/offline-file?'
const SIZE = 'X-Carrel-Size'
const VIEWER = /\/web\/assets\/pdf-/

/** What is kept of one kind. */
interface Amount {
  readonly count: number
  readonly bytes: number
}

/** A starred file that is kept. */
interface KeptFile {
  readonly libraryId: string
  readonly path: string
  readonly bytes: number
}

/** What this device keeps for the time without a connection, besides drafts. */
export interface KeptData {
  /** Whether data of this session is kept: it outlives the tab, and the browser supports it. */
  readonly isKeeping: boolean
  readonly lists: Amount
  readonly files: readonly KeptFile[]
  /** Starred files that are not kept, because they are too large or in an encrypted library. */
  readonly leftOut: number
  /** The files of the app, and of the viewers that starred files need. */
  readonly app: Amount
  readonly viewers: Amount
}

interface Entry {
  readonly url: string
  readonly bytes: number
}

export async function readKeptData(): Promise<KeptData> {
  const own = await ownCache()
  const data = own === undefined ? [] : await entriesOf(own)
  const shells = 'caches' in globalThis ? (await caches.keys()).filter((name) => name.startsWith(SHELL)) : []
  const parts = (await Promise.all(shells.map(entriesOf))).flat()
  const files = data.filter(({ url }) => url.includes(FILE)).map(keptFile)
  return {
    isKeeping: own !== undefined,
    lists: amountOf(data.filter(({ url }) => !url.includes(FILE))),
    files,
    leftOut: own === undefined ? 0 : Math.max(0, (await starredFiles(own)) - files.length),
    app: amountOf(parts.filter(({ url }) => !VIEWER.test(url))),
    viewers: amountOf(parts.filter(({ url }) => VIEWER.test(url))),
  }
}

/** Deletes the lists and files of this session, and the viewers. What is seen from now on is kept again. */
export async function removeKeptData(): Promise<void> {
  const own = await ownCache()
  if (own === undefined) return
  await caches.delete(own)
  await caches.open(own)
  for (const name of await caches.keys()) {
    if (!name.startsWith(SHELL)) continue
    const shell = await caches.open(name)
    const viewers = (await shell.keys()).filter(({ url }) => VIEWER.test(url))
    await Promise.all(viewers.map((request) => shell.delete(request)))
  }
}

async function entriesOf(name: string): Promise<Entry[]> {
  const cache = await caches.open(name)
  const entries = (await cache.keys()).map(async (request) => {
    const response = await cache.match(request)
    const size = response?.headers.get(SIZE)
    return { url: request.url, bytes: Number(size ?? (await response?.blob())?.size ?? 0) }
  })
  return Promise.all(entries)
}

const amountOf = (entries: readonly Entry[]): Amount => ({
  count: entries.length,
  bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0),
})

function keptFile({ url, bytes }: Entry): KeptFile {
  const query = new URL(url).searchParams
  return { libraryId: query.get('id') ?? '', path: query.get('p') ?? '', bytes }
}

/** How many files are starred, in the list of stars that is kept. */
async function starredFiles(own: string): Promise<number> {
  const cache = await caches.open(own)
  const list = (await cache.keys()).find(({ url }) => url.endsWith('/api/v2.1/starred-items/'))
  const response = list && (await cache.match(list))
  if (response === undefined) return 0
  const { starred_item_list: items } = (await response.json()) as {
    starred_item_list: readonly { is_dir: boolean; deleted: boolean }[]
  }
  return items.filter(({ is_dir, deleted }) => !is_dir && !deleted).length
}
