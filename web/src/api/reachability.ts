import { siteUrl } from '../site-url.ts'

/** Whether the server answers. Requests report what they see; while none succeeds, the server is polled. */

const POLL_MS = 3000

let isReachable = true
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

export const reachable = () => isReachable

export function onReachability(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** A response arrived. */
export function sawResponse(): void {
  clearTimeout(timer)
  timer = undefined
  set(true)
}

/** A request failed without a response. One lost request is not enough: the next poll decides. */
export function sawNoResponse(): void {
  timer ??= setTimeout(() => void poll(), isReachable ? 0 : POLL_MS)
}

async function poll(): Promise<void> {
  try {
    await fetch(siteUrl('api2/ping/'), { credentials: 'omit', cache: 'no-store' })
    sawResponse()
  } catch {
    timer = undefined
    set(false)
    sawNoResponse()
  }
}

function set(next: boolean): void {
  if (isReachable === next) return
  isReachable = next
  for (const listener of listeners) listener()
}
