import { useEffect, useState } from 'react'
import type { Entry, FileState } from '../api/index.ts'
import { fetchThumbnail, openFile } from '../api/index.ts'
import { extensionOf } from '../file-kinds.ts'
import { join } from '../paths.ts'
import type { CurrentFolder } from './current-folder.ts'
import { captureFrame } from './video-frame.ts'

const MiB = 2 ** 20

/** Formats that the server creates thumbnails of, and the largest file of each. */
const SERVED: readonly (readonly [extensions: string, largest: number])[] = [
  ['jpg jpeg jfif png gif webp avif heic heif tif tiff', 30 * MiB],
  ['svg', 2 * MiB],
  [
    'pdf docx dotx docm pptx ppsx potx pptm xlsx xltx xlsm odt ott odp otp ods ots odg epub pages numbers key',
    64 * MiB,
  ],
  ['mp3 m4a m4b aac ogg oga opus flac wav', Number.POSITIVE_INFINITY],
]
const largestOf = new Map(
  SERVED.flatMap(([extensions, largest]) => extensions.split(' ').map((one) => [one, largest] as const)),
)
/** Videos that browsers play. The browser takes their first frame: the server decodes no video. */
const VIDEOS = new Set(['mp4', 'm4v', 'webm', 'ogv', 'mov'])

const MAX_KEPT = 300
const MAX_FAILED = 5000
const AT_ONCE = 6
/** Entries that are scrolled past sooner are not fetched. A video costs more. */
const SETTLE_MS = 120
const VIDEO_SETTLE_MS = 500

/** LRU cache of object URLs, oldest first. */
const kept = new Map<string, string>()
/** Entries without a picture, such as a document that contains no preview. Not requested again. */
const failed = new Set<string>()

type Origin = 'server' | 'video'

/** The folder of a file. */
type Place = Pick<CurrentFolder, 'libraryId' | 'path' | 'encrypted'>
type Pictured = Pick<Entry, 'type' | 'id' | 'name' | 'size'>

/** URL of the thumbnail of an entry once it is loaded. Undefined if the entry has none. */
export function useThumbnail(here: Place, entry: Pictured, size: number): string | undefined {
  const { id } = entry
  const key = `${here.libraryId} ${id} ${size}`
  const path = join(here.path, entry.name)
  const origin = here.encrypted ? undefined : originOf(entry)
  const [shown, setShown] = useState<{ key: string; url: string }>()
  useEffect(() => {
    if (origin === undefined || kept.has(key) || failed.has(key)) return
    const stopping = new AbortController()
    const { signal } = stopping
    const show = async () => {
      const file = { libraryId: here.libraryId, path, id, commitId: undefined }
      const url = await load(key, origin, () => obtain(origin, file, size, signal), signal)
      if (url !== undefined && !signal.aborted) setShown({ key, url })
    }
    const timer = setTimeout(() => void show(), origin === 'video' ? VIDEO_SETTLE_MS : SETTLE_MS)
    return () => {
      clearTimeout(timer)
      stopping.abort()
    }
  }, [origin, key, id, here.libraryId, path, size])
  if (origin === undefined) return undefined
  return kept.get(key) ?? (shown?.key === key ? shown.url : undefined)
}

function originOf({ type, name, size = 0 }: Pictured): Origin | undefined {
  if (type !== 'file' || size === 0) return undefined
  const extension = extensionOf(name)
  if (VIDEOS.has(extension)) return 'video'
  return size <= (largestOf.get(extension) ?? 0) ? 'server' : undefined
}

async function obtain(origin: Origin, file: FileState, size: number, signal: AbortSignal): Promise<Blob> {
  if (origin === 'server') return fetchThumbnail(file.libraryId, file.path, size, signal)
  const { link } = await openFile(file, signal)
  return captureFrame(link, size, signal)
}

/** Limits how many run at the same time. */
function lanes(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= count) await new Promise<void>((resolve) => waiting.push(resolve))
    running += 1
    try {
      return await work()
    } finally {
      running -= 1
      waiting.shift()?.()
    }
  }
}

const lanesOf = { server: lanes(AT_ONCE), video: lanes(1) }

/** Undefined if it cannot be loaded; the icon stays. */
function load(
  key: string,
  origin: Origin,
  fetchIt: () => Promise<Blob>,
  signal: AbortSignal,
): Promise<string | undefined> {
  return lanesOf[origin](async () => {
    try {
      if (signal.aborted) return undefined
      return keep(key, URL.createObjectURL(await fetchIt()))
    } catch {
      if (!signal.aborted && failed.size < MAX_FAILED) failed.add(key)
      return undefined
    }
  })
}

function keep(key: string, url: string): string {
  const before = kept.get(key)
  if (before !== undefined) URL.revokeObjectURL(before)
  kept.delete(key)
  kept.set(key, url)
  const [oldest] = kept
  if (kept.size > MAX_KEPT && oldest !== undefined) {
    kept.delete(oldest[0])
    URL.revokeObjectURL(oldest[1])
  }
  return url
}
