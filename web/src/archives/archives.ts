import { useSyncExternalStore } from 'react'
import {
  api,
  downloadFile,
  type FileAt,
  groupByFolder,
  onSessionChange,
  saveFrom,
  token,
} from '../api/index.ts'
import { siteUrl } from '../site-url.ts'
import { visitedLink } from '../visited-link.ts'

/** Entries of one folder to download as one archive. */
interface ArchiveRequest {
  readonly libraryId: string
  readonly parent: string
  /** A visitor of a link downloads the folder itself without any. */
  readonly names: readonly string[]
  /** Label; by default the names of the entries. */
  readonly title?: string
  /** Commit to read from; by default the head. */
  readonly commitId?: string
}

/** An archive in preparation. Counts are numbers of files. */
export interface Archive {
  readonly key: number
  readonly names: readonly string[]
  readonly title: string | undefined
  readonly state: 'starting' | 'packing' | 'saved' | 'canceled' | 'failed'
  readonly zipped: number
  readonly total: number
  /** Error message. */
  readonly failure: Error | undefined
}

const ASK_MS = [150, 250, 500, 1000]
const SHOWN_AFTERWARDS_MS = 6000

let archives: readonly Archive[] = []
let nextKey = 1
const tickets = new Map<number, string>()
const listeners = new Set<() => void>()

/** Requests an archive, shows the progress and starts the download. */
export function startArchive(request: ArchiveRequest): void {
  const key = nextKey
  nextKey += 1
  const { names, title } = request
  set([...archives, { key, names, title, state: 'starting', zipped: 0, total: 0, failure: undefined }])
  void make(key, request).catch((error: unknown) => {
    // Ignore archives that were cancelled or dismissed.
    if (find(key)?.state === 'canceled') return
    change(key, { state: 'failed', failure: error instanceof Error ? error : undefined })
  })
}

/** Downloads a single file directly, and others as one archive for each folder. */
export async function downloadFiles(files: readonly FileAt[]): Promise<void> {
  const [only, ...others] = files
  if (only !== undefined && others.length === 0) return downloadFile(only.libraryId, only.path)
  for (const { libraryId, folder, names } of groupByFolder(files))
    startArchive({ libraryId, parent: folder, names })
}

export function useArchives(): readonly Archive[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => archives,
  )
}

export async function cancelArchive(key: number): Promise<void> {
  change(key, { state: 'canceled' })
  dismissLater(key)
  await stop(tickets.get(key))
}

export function dismissArchive(key: number): void {
  tickets.delete(key)
  set(archives.filter((one) => one.key !== key))
}

async function make(key: number, request: ArchiveRequest): Promise<void> {
  const { zip_token: ticket } = await begin(request)
  tickets.set(key, ticket)
  if (!isWanted(key)) return stop(ticket)
  for (let asked = 0; ; asked += 1) {
    const progress = await api.get('api/v2.1/query-zip-progress/', { token: ticket })
    if (!isWanted(key)) return
    const { zipped, total } = progress
    if (progress.failed) return change(key, { state: 'failed', failure: new Error(progress.failed_reason) })
    if (progress.canceled) return change(key, { state: 'canceled' })
    change(key, { state: 'packing', zipped, total })
    if (zipped === total) break
    await new Promise((resolve) => setTimeout(resolve, ASK_MS[Math.min(asked, ASK_MS.length - 1)]))
  }
  saveFrom(siteUrl(`seafhttp/zip/${ticket}`).href)
  change(key, { state: 'saved' })
  dismissLater(key)
}

function begin({ libraryId, parent, names, commitId }: ArchiveRequest) {
  const form = { parent_dir: parent, dirents: names, commit_id: commitId }
  if (visitedLink === undefined) return api.post(`api/v2.1/repos/${libraryId}/zip-task/`, { form })
  const { token } = visitedLink
  return names.length === 0
    ? api.get('api/v2.1/share-link-zip-task/', { share_link_token: token, path: parent })
    : api.post('api/v2.1/share-link-zip-task/', { form: { ...form, token } })
}

async function stop(ticket: string | undefined): Promise<void> {
  if (ticket === undefined) return
  // Best effort: the server deletes an unused archive by itself.
  await api.post('api/v2.1/cancel-zip-task/', { form: { token: ticket } }).catch(() => undefined)
}

const find = (key: number) => archives.find((one) => one.key === key)

function isWanted(key: number): boolean {
  const state = find(key)?.state
  return state === 'starting' || state === 'packing'
}

function change(key: number, changes: Partial<Archive>): void {
  set(archives.map((one) => (one.key === key ? { ...one, ...changes } : one)))
}

function dismissLater(key: number): void {
  setTimeout(() => dismissArchive(key), SHOWN_AFTERWARDS_MS)
}

function set(next: readonly Archive[]): void {
  archives = next
  for (const listener of listeners) listener()
}

// Archives belong to the account that was signed in.
onSessionChange(() => {
  if (token() === undefined) set([])
})
