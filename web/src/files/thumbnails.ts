import { useEffect, useState } from 'react'
import type { Entry } from '../api/index.ts'
import { fetchThumbnail } from '../api/index.ts'
import { extensionOf } from '../file-kinds.ts'
import { type CurrentFolder, entryPath } from './current-folder.ts'

/** Formats and the file size that the server creates thumbnails of. */
const EXTENSIONS = new Set(['jpg', 'jpeg', 'jfif', 'png', 'gif', 'webp', 'avif', 'tif', 'tiff'])
const LARGEST = 30 * 2 ** 20
const MAX_KEPT = 300
const AT_ONCE = 6
/** Entries that are scrolled past sooner are not fetched. */
const SETTLE_MS = 120

/** LRU cache of object URLs, oldest first. */
const kept = new Map<string, string>()
const waiting: (() => void)[] = []
let running = 0

/** URL of the thumbnail of an entry once it is loaded. Undefined if the entry has none. */
export function useThumbnail(here: CurrentFolder, entry: Entry, size: number): string | undefined {
  const key = `${here.libraryId} ${entry.id} ${size}`
  const path = entryPath(here, entry)
  const possible = !here.encrypted && hasThumbnail(entry)
  const [shown, setShown] = useState<{ key: string; url: string }>()
  useEffect(() => {
    if (!possible || kept.has(key)) return
    const stopping = new AbortController()
    const timer = setTimeout(async () => {
      const url = await load(
        key,
        () => fetchThumbnail(here.libraryId, path, size, stopping.signal),
        stopping.signal,
      )
      if (url !== undefined && !stopping.signal.aborted) setShown({ key, url })
    }, SETTLE_MS)
    return () => {
      clearTimeout(timer)
      stopping.abort()
    }
  }, [possible, key, here.libraryId, path, size])
  if (!possible) return undefined
  return kept.get(key) ?? (shown?.key === key ? shown.url : undefined)
}

function hasThumbnail({ type, name, size = 0 }: Entry): boolean {
  return type === 'file' && size > 0 && size <= LARGEST && EXTENSIONS.has(extensionOf(name))
}

/** Undefined if it cannot be loaded; the icon stays. */
async function load(
  key: string,
  fetchIt: () => Promise<Blob>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  running += 1
  try {
    if (signal.aborted) return undefined
    return keep(key, URL.createObjectURL(await fetchIt()))
  } catch {
    return undefined
  } finally {
    running -= 1
    waiting.shift()?.()
  }
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
