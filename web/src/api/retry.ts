import { CarrelError } from '../../../sdk/src/index.ts'

const MAX_ATTEMPTS = 6
const FIRST_MS = 1000
const MAX_MS = 60_000

/**
 * Retries while the server is busy: after the time of Retry-After, or with exponential backoff. Jitter spreads
 * requests that were refused together.
 */
export async function retryWhileBusy<T>(attempt: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt()
    } catch (error) {
      const isBusy = error instanceof CarrelError && (error.status === 503 || error.status === 429)
      if (!isBusy || attempts === MAX_ATTEMPTS) throw error
      const ms = error.retryAfterMs ?? FIRST_MS * 2 ** (attempts - 1)
      await pause(Math.min(ms, MAX_MS) * (1 + Math.random() / 4), signal)
    }
  }
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
