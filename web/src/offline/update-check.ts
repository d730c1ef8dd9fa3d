import { onReachability, reachable } from '../api/index.ts'
import { siteUrl } from '../site-url.ts'

const CHECK_MS = 60 * 60 * 1000
/** The first time, the worker loads the whole app. That must not compete with the first list on a slow line. */
const FIRST_DELAY_MS = 5000
const listeners = new Set<() => void>()
let waiting: ServiceWorker | undefined

export const hasUpdate = () => waiting !== undefined

export function onUpdate(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Registers the service worker, some time after the page is loaded. */
export function registerServiceWorker(): void {
  if (!('serviceWorker' in navigator)) return
  const start = () => void register().catch(() => undefined)
  const later = () => setTimeout(start, navigator.serviceWorker.controller === null ? FIRST_DELAY_MS : 0)
  if (document.readyState === 'complete') later()
  else addEventListener('load', later, { once: true })
}

async function register(): Promise<void> {
  const scope = siteUrl('app').pathname
  const registration = await navigator.serviceWorker.register(siteUrl('web/service-worker.js'), { scope })
  // The page was loaded a moment ago, so it is as new as the worker that waits.
  registration.waiting?.postMessage('activate')
  registration.addEventListener('updatefound', () => {
    const { installing } = registration
    installing?.addEventListener('statechange', () => {
      if (installing.state === 'installed' && navigator.serviceWorker.controller !== null)
        announce(installing)
    })
  })
  const check = () => void registration.update().catch(() => undefined)
  setInterval(check, CHECK_MS)
  // A server that was away may have been updated.
  onReachability(() => {
    if (reachable()) check()
  })
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') check()
  })
}

function announce(worker: ServiceWorker): void {
  waiting = worker
  for (const listener of listeners) listener()
}

/** Activates the new version and loads the page again. */
export function applyUpdate(): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
  waiting?.postMessage('activate')
}
