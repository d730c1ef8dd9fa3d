import { hasExpired, isKept, onSessionChange, token } from '../api/index.ts'
import { clearDrafts } from '../viewer/index.ts'

/** Caches that the service worker fills, one for each session. It stores data only for sessions whose cache exists. */
const DATA = 'carrel-data-'
/** What another app shares with this one. */
export const SHARED = 'carrel-shared'

let wasSignedIn = false

/** Without HTTPS there is neither a service worker nor a cache. */
const isSupported = () => 'caches' in globalThis && 'serviceWorker' in navigator

/** Lets the service worker keep data of this session, if the session outlives the tab, and deletes data of all others. */
async function applySession(): Promise<void> {
  const current = token()
  const own = await ownCache()
  for (const name of await caches.keys()) {
    const isForeign = name.startsWith(DATA) && name !== own
    if (isForeign || (name === SHARED && current === undefined && wasSignedIn)) await caches.delete(name)
  }
  wasSignedIn = current !== undefined
  if (own !== undefined) await caches.open(own)
}

/** The name of the cache of this session. Undefined if it keeps nothing. */
export async function ownCache(): Promise<string | undefined> {
  const current = token()
  return isSupported() && current !== undefined && isKept() ? cacheName(`Token ${current}`) : undefined
}

/** As the service worker computes it. */
async function cacheName(credential: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(credential))
  return DATA + Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Starts to keep data for the time without a connection. The data of one account is never shown to another. */
export function keepOfflineData(): void {
  const apply = () => {
    // An expired session keeps unsaved text: the user did not choose to leave.
    if (token() === undefined && !hasExpired()) clearDrafts()
    if (isSupported()) void applySession().catch(() => undefined)
  }
  onSessionChange(apply)
  apply()
}
