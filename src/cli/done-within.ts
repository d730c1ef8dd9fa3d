import { setTimeout as delay } from 'node:timers/promises'

/** Resolves when the work is done, or after `ms`; gives whether it was done. Rejects as the work does. */
export async function doneWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const giveUp = new AbortController()
  const timeUp = delay(ms, false, { signal: giveUp.signal }).catch(() => false)
  try {
    return await Promise.race([work.then(() => true), timeUp])
  } finally {
    giveUp.abort()
  }
}
