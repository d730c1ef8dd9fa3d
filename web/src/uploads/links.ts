import { api } from '../api/index.ts'
import { rebaseUrl } from '../site-url.ts'

/** Upload links expire after an hour; a request should end well before. */
const KEPT_MS = 45 * 60_000

const links = new Map<string, { readonly at: number; readonly link: Promise<string> }>()

/** URL for uploads to a folder. Cached. */
export function uploadLink(libraryId: string, folder: string): Promise<string> {
  const key = `${libraryId}${folder}`
  const known = links.get(key)
  if (known !== undefined && Date.now() - known.at < KEPT_MS) return known.link
  const link = api
    .get(`api2/repos/${libraryId}/upload-link/`, { p: folder })
    .then((address) => `${rebaseUrl(address)}?ret-json=1`)
  links.set(key, { at: Date.now(), link })
  link.catch(() => forgetLink(libraryId, folder))
  return link
}

/** Evicts a link that expired. */
export function forgetLink(libraryId: string, folder: string): void {
  links.delete(`${libraryId}${folder}`)
}

export function forgetLinks(): void {
  links.clear()
}
